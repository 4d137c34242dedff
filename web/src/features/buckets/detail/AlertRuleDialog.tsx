import { NumberInput, Radio, Stack, Switch, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useSetAlertRules } from '@/lib/api/alerts';
import { fieldErrorsOf } from '@/lib/form-errors';
import { hasCode } from '@/lib/api/problem';
import type { AlertRule, AlertRules } from '@/lib/api/types';
import { useSimpleForm } from '@/lib/use-simple-form';
import { alertRuleText, endMinutes } from '@/components/alert-text';
import { errorText } from '@/components/error-text';
import { DialogForm, FormDialog } from '@/components/FormDialog';
import { showDone } from '@/components/notify';

interface Props {
  bucket: string;
  book: AlertRules;
  editing: AlertRule | 'new' | null;
  onClose: () => void;
}

/** Adds a rule or changes one. */
export function AlertRuleDialog({ bucket, book, editing, onClose }: Props) {
  const { t } = useTranslation();
  return (
    <FormDialog opened={editing !== null} onClose={onClose} title={editing === 'new' ? t('alerts.add') : t('alerts.edit')}>
      {editing && <RuleForm bucket={bucket} book={book} editing={editing} onClose={onClose} />}
    </FormDialog>
  );
}

const fresh = { kind: 'limited_share', percent: 5, minutes: 5, enabled: true };
const whole = (n: unknown, high: number) => Number.isInteger(n) && Number(n) >= 1 && Number(n) <= high;

function RuleForm({ bucket, book, editing, onClose }: Props & { editing: AlertRule | 'new' }) {
  const { t } = useTranslation();
  const set = useSetAlertRules(bucket);
  const [base] = useState(book); // as it was when the dialog was opened
  const { kind, percent, minutes, enabled } = editing === 'new' ? fresh : editing;
  const { form, element, refusal, refused, onSubmit } = useSimpleForm({
    initialValues: { kind, percent, minutes, enabled },
    validate: {
      percent: (n: number) => (whole(n, 100) ? null : t('alerts.percentRule')),
      minutes: (n: number) => (whole(n, 1440) ? null : t('alerts.minutesRule')),
    },
  });
  const save = onSubmit((values) => {
    const kept = base.rules.map((rule) => ({ id: rule.id, kind: rule.kind, percent: rule.percent, minutes: rule.minutes, enabled: rule.enabled }));
    const rules = editing === 'new' ? [...kept, values] : kept.map((rule) => (rule.id === editing.id ? { ...values, id: editing.id } : rule));
    set.mutate(
      { base: base.revision, rules },
      {
        onSuccess: () => {
          showDone(t('alerts.saved'), t);
          onClose();
        },
        onError: (error) => refused(error, hasCode(error, 'stale') ? t('alerts.stale') : (fieldErrorsOf(error)[0]?.message ?? errorText(error, t))),
      },
    );
  });
  const near = { flow: 'alerts.kindNearFlow', level: 'alerts.kindNearLevel' }[book.near_limit] ?? 'alerts.kindNearNone';
  const said = whole(form.values.percent, 100) && whole(form.values.minutes, 1440);
  return (
    <DialogForm ref={element} onSubmit={save} onCancel={onClose} submitLabel={t('common.save')} saving={set.isPending} refusal={refusal}>
      <Radio.Group label={t('alerts.kind')} {...form.getInputProps('kind')}>
        <Stack gap="xs" mt="xs">
          <Radio value="limited_share" label={t('alerts.kindLimited')} description={t('alerts.kindLimitedText')} />
          <Radio value="near_limit" label={t('alerts.kindNear')} description={t(near)} disabled={!book.near_limit && kind !== 'near_limit'} />
        </Stack>
      </Radio.Group>
      <NumberInput label={t('alerts.percent')} required min={1} max={100} clampBehavior="none" allowDecimal={false} {...form.getInputProps('percent')} />
      <NumberInput label={t('alerts.minutes')} required min={1} max={1440} clampBehavior="none" allowDecimal={false} {...form.getInputProps('minutes')} />
      <Switch label={t('alerts.enabled')} {...form.getInputProps('enabled', { type: 'checkbox' })} />
      {said && (
        <Text size="sm" aria-live="polite">
          {alertRuleText(form.values, t)}. {t('alerts.preview', { minutes: form.values.minutes, end: endMinutes(form.values.minutes) })}
        </Text>
      )}
    </DialogForm>
  );
}
