import { Alert, Button, Group, Modal, Stack, Text, Textarea } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import type { Definition } from '@/lib/api/types';
import type { ApiCall } from '@/lib/curl';
import { limitKind } from '@/lib/definition';
import type { FieldDifference } from '@/lib/diff/fields';
import { CurlButton } from '@/components/CurlButton';
import { showDefinitionValue } from '@/components/DefinitionValue';
import { FieldDiff } from '@/components/FieldDiff';
import { LimitText } from '@/components/LimitText';
import { editWarnings } from './edit-warnings';
import { reasonError } from './validate';

interface ReviewDialogProps {
  opened: boolean;
  onClose: () => void;
  /** Called when the dialog is gone and has given the focus back. */
  onClosed: () => void;
  differences: FieldDifference[];
  before: Definition;
  after: Definition;
  /** Kept by the form, so that closing the dialog or a refusal does not lose it. */
  reason: string;
  onReason: (reason: string) => void;
  curl: () => ApiCall;
  onSave: (reason: string) => void;
  saving: boolean;
}

/** Shows what an edit will change and asks for the reason. */
export function ReviewDialog(props: ReviewDialogProps) {
  const { t } = useTranslation();
  return (
    <Modal
      opened={props.opened}
      onClose={props.onClose}
      onExitTransitionEnd={props.onClosed}
      title={t('edit.reviewTitle')}
      size="xl"
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <ReviewForm {...props} />
    </Modal>
  );
}

function ReviewForm({ differences, before, after, reason, onReason, curl, onSave, onClose, saving }: ReviewDialogProps) {
  const { t, i18n } = useTranslation();
  const [error, setError] = useState<string>();
  const limitChanged = differences.some(({ field }) => ['algorithm', 'rate', 'period_ms', 'max_permits'].includes(field));
  const context = limitKind(after.algorithm);

  function submit(event: FormEvent) {
    event.preventDefault();
    const problem = reasonError(reason, t);
    setError(problem);
    if (problem === undefined) onSave(reason.trim());
  }

  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {limitChanged && (
          <Text>
            <LimitText limit={before} /> <span aria-hidden>→</span><span className="visually-hidden">{t('diff.becomes')}</span>{' '}
            <strong>
              <LimitText limit={after} />
            </strong>
          </Text>
        )}
        {editWarnings(before, after).map((warning) => (
          <Alert key={warning} color="orange">
            {t(`edit.${warning}`, { loss: t(`after_loss.${after.after_loss}.meaning`, { context }) })}
          </Alert>
        ))}
        <FieldDiff
          differences={differences}
          fieldLabel={(field) => t(`field.${field}`, { context, defaultValue: field })}
          showValue={(field, value) => showDefinitionValue(field, value, t, i18n.language)}
        />
        <Textarea
          label={t('reason.label')}
          description={t('reason.hint')}
          required
          data-autofocus
          autosize
          minRows={2}
          value={reason}
          error={error}
          onChange={(event) => onReason(event.currentTarget.value)}
        />
        <Group justify="flex-end">
          <CurlButton call={curl} />
          <Button variant="default" onClick={onClose}>
            {t('edit.back')}
          </Button>
          <Button type="submit" loading={saving}>
            {t('edit.save')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
