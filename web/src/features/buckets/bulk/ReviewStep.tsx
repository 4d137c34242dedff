import { Button, Group, ScrollArea, Stack, Text, Textarea, Title } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import type { Bucket, BulkChange, BulkEdited } from '@/lib/api/types';
import { faultInWords, fieldErrorsOf } from '@/lib/form-errors';
import { diffFields } from '@/lib/diff/fields';
import { CurlButton } from '@/components/CurlButton';
import { showDefinitionValue } from '@/components/DefinitionValue';
import { FieldDiff } from '@/components/FieldDiff';
import { showDone, showPending } from '@/components/notify';
import { bulkBody, useBulkEdit } from '@/features/buckets/api/bulk';
import { reasonError } from '@/features/buckets/form/validate';
import { Refusal } from './Refusal';

interface ReviewStepProps {
  buckets: readonly Bucket[];
  change: BulkChange;
  /** What the server says would change. */
  preview: BulkEdited;
  reason: string;
  onReason: (reason: string) => void;
  onBack: () => void;
  onDrop: (names: readonly string[]) => void;
  onDone: () => void;
}

const shownMost = 50; // differences written out; of the others the number is told

/** What would change, bucket by bucket, and the reason. */
export function ReviewStep({ buckets, change, preview, reason, onReason, onBack, onDrop, onDone }: ReviewStepProps) {
  const { t } = useTranslation();
  const save = useBulkEdit();
  const [error, setError] = useState<string>();
  const count = preview.changed.length;
  const refused = fieldErrorsOf(save.error);
  const rest = refused.filter(({ field }) => field !== 'reason').map(faultInWords);

  function submit(event: FormEvent) {
    event.preventDefault();
    const problem = reasonError(reason, t);
    setError(problem);
    if (problem !== undefined) return;
    save.mutate(
      { buckets, change, reason: reason.trim() },
      {
        onSuccess: (done) => {
          const waiting = done.changed.filter(({ sync }) => sync.state === 'pending').length;
          if (waiting > 0) showPending(t('bulk.savedPending', { count: done.changed.length, waiting }), t);
          else showDone(t('bulk.saved', { count: done.changed.length }), t);
          onDone();
        },
      },
    );
  }

  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Text role="status">
          {t('bulk.willChange', { count })}{' '}
          {preview.unchanged.length > 0 && t('bulk.alreadySo', { count: preview.unchanged.length })}
        </Text>
        {count > 0 && <Differences buckets={buckets} preview={preview} />}
        {count > 0 && (
          <Textarea
            label={t('reason.label')}
            description={t('reason.hint')}
            required
            data-autofocus
            autosize
            minRows={2}
            value={reason}
            error={error ?? refused.find(({ field }) => field === 'reason')?.message}
            onChange={(event) => onReason(event.currentTarget.value)}
          />
        )}
        <Refusal error={save.error} fields={rest} onDrop={onDrop} />
        <Group justify="flex-end">
          {count > 0 && <CurlButton call={() => ({ method: 'POST', path: '/buckets/bulk', body: { ...bulkBody({ buckets, change }), reason: reason.trim() } })} />}
          <Button variant="default" onClick={onBack}>
            {t('edit.back')}
          </Button>
          {count > 0 && (
            <Button type="submit" loading={save.isPending}>
              {t('bulk.save', { count })}
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}

function Differences({ buckets, preview }: { buckets: readonly Bucket[]; preview: BulkEdited }) {
  const { t, i18n } = useTranslation();
  const before = new Map(buckets.map((bucket) => [bucket.name, bucket]));
  const rest = preview.changed.length - shownMost;
  return (
    <ScrollArea.Autosize mah={320} viewportProps={{ tabIndex: 0, 'aria-label': t('bulk.differences'), role: 'group' }}>
      <Stack gap="md">
        {preview.changed.slice(0, shownMost).map(({ name, labels, owners, mode }) => {
          const was = before.get(name);
          return (
            <section key={name} aria-label={name}>
              <Title order={3} size="h6" mb={4} style={{ overflowWrap: 'anywhere' }}>
                {name}
              </Title>
              <FieldDiff
                differences={diffFields(was && { labels: was.labels, owners: was.owners, mode: was.mode }, { labels, owners, mode })}
                fieldLabel={(field) => t(`field.${field}`, { defaultValue: field })}
                showValue={(field, value) => showDefinitionValue(field, value, t, i18n.language)}
              />
            </section>
          );
        })}
        {rest > 0 && (
          <Text size="sm" c="dimmed">
            {t('common.more', { count: rest })}
          </Text>
        )}
      </Stack>
    </ScrollArea.Autosize>
  );
}
