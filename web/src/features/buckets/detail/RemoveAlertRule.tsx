import { Text } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useSetAlertRules } from '@/lib/api/alerts';
import { hasCode } from '@/lib/api/problem';
import type { AlertRule, AlertRules } from '@/lib/api/types';
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
  const [refusal, setRefusal] = useState<string[]>([]);
  const remove = (event: FormEvent) => {
    event.preventDefault();
    const rules = base.rules.filter((one) => one.id !== rule.id).map(({ id, kind, percent, minutes, enabled }) => ({ id, kind, percent, minutes, enabled }));
    set.mutate(
      { base: base.revision, rules },
      {
        onSuccess: () => {
          showDone(t('alerts.saved'), t);
          onClose();
        },
        onError: (error) => setRefusal([hasCode(error, 'stale') ? t('alerts.stale') : errorText(error, t)]),
      },
    );
  };
  return (
    <DialogForm onSubmit={remove} onCancel={onClose} submitLabel={t('alerts.remove')} saving={set.isPending} refusal={refusal}>
      <Text fw={600}>{alertRuleText(rule, t)}</Text>
      <Text size="sm">{t('alerts.removeText')}</Text>
    </DialogForm>
  );
}
