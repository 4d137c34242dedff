import { Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { alertRulesCall, ruleInput, useSetAlertRules } from '@/lib/api/alerts';
import { hasCode } from '@/lib/api/problem';
import type { AlertRule, AlertRules } from '@/lib/api/types';
import { useSimpleForm } from '@/lib/use-simple-form';
import { alertRuleText } from '@/components/alert-text';
import { errorText } from '@/components/error-text';
import { DialogForm, FormDialog } from '@/components/FormDialog';
import { showDone } from '@/components/notify';

interface Props {
  bucket: string;
  book: AlertRules;
  rule: AlertRule | null;
  onClose: () => void;
}

/** Removes one rule, after a question. */
export function RemoveAlertRule({ bucket, book, rule, onClose }: Props) {
  const { t } = useTranslation();
  return (
    <FormDialog opened={rule !== null} onClose={onClose} title={t('alerts.remove')}>
      {rule && <Question bucket={bucket} book={book} rule={rule} onClose={onClose} />}
    </FormDialog>
  );
}

function Question({ bucket, book, rule, onClose }: Props & { rule: AlertRule }) {
  const { t } = useTranslation();
  const set = useSetAlertRules(bucket);
  const [base] = useState(book);
  const { form, element, refusal, refused, onSubmit } = useSimpleForm({ initialValues: { reason: '' } });
  const body = (reason: string) => ({ rules: base.rules.filter((one) => one.id !== rule.id).map(ruleInput), reason: reason.trim() });
  const remove = onSubmit(({ reason }) =>
    set.mutate(
      { base: base.revision, ...body(reason) },
      {
        onSuccess: () => {
          showDone(t('alerts.saved'), t);
          onClose();
        },
        onError: (error) => refused(error, hasCode(error, 'stale') ? t('alerts.stale') : errorText(error, t)),
      },
    ),
  );
  return (
    <DialogForm
      ref={element}
      onSubmit={remove}
      onCancel={onClose}
      submitLabel={t('alerts.remove')}
      saving={set.isPending}
      refusal={refusal}
      curl={() => alertRulesCall(bucket, base.revision, body(form.getValues().reason))}
    >
      <Text fw={600}>{alertRuleText(rule, t)}</Text>
      <Text size="sm">{t('alerts.removeText')}</Text>
      <Textarea label={t('alerts.reason')} maxLength={500} data-autofocus {...form.getInputProps('reason')} />
    </DialogForm>
  );
}
