import { Alert, Button, Group } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate } from 'react-router';
import { ApiError, hasCode } from '@/lib/api/problem';
import type { Bucket } from '@/lib/api/types';
import { useDraft } from '@/lib/drafts';
import { definitionFields, definitionOf } from '@/lib/definition';
import { diffFields, rebase } from '@/lib/diff/fields';
import { useEver } from '@/lib/use-ever';
import { errorText } from '@/components/error-text';
import { showDone, showPending } from '@/components/notify';
import { PageHeader } from '@/components/PageHeader';
import { bucketKeys } from '@/features/buckets/api/keys';
import { useUpdateBucket } from '@/features/buckets/api/update';
import { BucketFields } from './BucketFields';
import { StaleNotice } from './StaleNotice';
import { bucketFormId, useBucketForm } from './use-bucket-form';
import { toDefinition, toValues, type BucketValues } from './values';

const ReviewDialog = lazy(async () => ({ default: (await import('./ReviewDialog')).ReviewDialog }));

/**
 * Edits a bucket: change, review the difference, give a reason, save. `latest` follows the server; the edit stands on
 * `base` until its maker moves it onto a newer revision.
 */
export function BucketEditor({ latest }: { latest: Bucket }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const draft = useDraft<BucketValues>(bucketFormId);
  const [base, setBase] = useState((draft?.base as Bucket | undefined) ?? latest);
  const { form, element, placeServerErrors, focusInvalid } = useBucketForm({ initial: toValues(base), creating: false, draft, base });
  const update = useUpdateBucket(base.name);
  const [reviewing, setReviewing] = useState(false);
  const asked = useEver(reviewing);
  const [refusal, setRefusal] = useState<string[]>([]);

  const before = definitionOf(base);
  const yours = toDefinition(form.values);
  const differences = diffFields(before, yours, definitionFields);
  const page = `/buckets/${base.name}`;

  function moveOnto(current: Bucket, keepMine: boolean) {
    const merged = keepMine ? rebase(before, definitionOf(current), yours) : definitionOf(current);
    form.setInitialValues(toValues(current));
    form.setValues({ ...toValues({ ...merged, name: current.name }), reason: keepMine ? form.values.reason : '' });
    setBase(current);
    setRefusal([]);
    setReviewing(false);
  }

  function save(reason: string) {
    update.mutate(
      { base: base.revision, definition: yours, reason },
      {
        onSuccess: (bucket) => {
          form.resetDirty(); // nothing is left to lose
          const values = { revision: bucket.revision };
          if (bucket.sync.state === 'synced') showDone(t('saved.updated', values), t);
          else showPending(t('saved.updatedPending', values), t);
          void navigate(page);
        },
        onError: (error) => {
          setReviewing(false);
          if (hasCode(error, 'stale') && error instanceof ApiError) {
            queryClient.setQueryData(bucketKeys.one(base.name), error.problem.current as Bucket);
            return;
          }
          setRefusal(placeServerErrors(error) ?? [errorText(error, t)]);
        },
      },
    );
  }

  return (
    <>
      <PageHeader title={t('edit.title', { name: base.name })} up={{ to: page, label: base.name }} />
      {latest.revision > base.revision && (
        <StaleNotice
          base={before}
          latest={latest}
          yours={yours}
          onKeep={() => moveOnto(latest, true)}
          onDiscard={() => moveOnto(latest, false)}
        />
      )}
      <form
        ref={element}
        noValidate
        onSubmit={form.onSubmit(() => {
          setRefusal([]);
          setReviewing(true);
        }, focusInvalid)}
      >
        <BucketFields form={form} creating={false} />
        {refusal.length > 0 && (
          <Alert color="red" mt="md" title={t('form.refused')} role="alert">
            {refusal.join(' ')}
          </Alert>
        )}
        <Group mt="xl" justify="flex-end">
          <Button variant="default" component={Link} to={page}>
            {t('common.cancel')}
          </Button>
          <Button type="submit" disabled={differences.length === 0 || latest.revision > base.revision}>
            {t('edit.review')}
          </Button>
        </Group>
      </form>
      <Suspense fallback={null}>
        {asked && (
          <ReviewDialog
            opened={reviewing}
            onClose={() => setReviewing(false)}
            // The closing dialog gives the focus back to its button; what was refused gets it only after that.
            onClosed={() => Object.keys(form.errors).length > 0 && focusInvalid()}
            differences={differences}
            before={before}
            after={yours}
            reason={form.values.reason}
            onReason={(reason) => form.setFieldValue('reason', reason)}
            curl={() => ({
              method: 'PUT',
              path: `/buckets/${base.name}`,
              base: base.revision,
              body: { ...yours, reason: form.getValues().reason.trim() },
            })}
            onSave={save}
            saving={update.isPending}
          />
        )}
      </Suspense>
    </>
  );
}
