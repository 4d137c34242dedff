import { NumberInput, Radio, Stack, Switch, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { alertRulesCall, ruleInput, useSetAlertRules } from '@/lib/api/alerts';
import { ApiError, hasCode } from '@/lib/api/problem';
import type { AlertRule, AlertRuleInput, AlertRules } from '@/lib/api/types';
import { useSimpleForm } from '@/lib/use-simple-form';
import { alertRuleText, endMinutes } from '@/components/alert-text';
import { errorText } from '@/components/error-text';
import { DialogForm, FormDialog } from '@/components/FormDialog';
import { OvertakenNotice } from '@/components/OvertakenNotice';
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
  const [stand, setStand] = useState(book); // what the edit stands on: as it was when the dialog was opened
  const { kind, percent, minutes, enabled } = editing === 'new' ? fresh : editing;
  const { form, element, refusal, refused, onSubmit, base = stand.revision, overtaken } = useSimpleForm(
    {
      initialValues: { kind, percent, minutes, enabled, reason: '' },
      validate: {
        percent: (n: number) => (whole(n, 100) ? null : t('alerts.percentRule')),
        minutes: (n: number) => (whole(n, 1440) ? null : t('alerts.minutesRule')),
      },
    },
    book.revision,
  );
  const id = editing === 'new' ? undefined : editing.id;
  const body = (values: typeof form.values) => withRule(stand.rules, id, values);
  const save = onSubmit((values) => {
    const sent = body(values);
    set.mutate(
      { base, ...sent },
      {
        onSuccess: () => {
          showDone(t('alerts.saved'), t);
          onClose();
        },
        onError: (error) => {
          const present = presentBook(error);
          if (present) setStand(present);
          refused(error, errorText(error, t), (field) => inputOf(field, placeOf(stand.rules, id)));
        },
      },
    );
  });
  const near = { flow: 'alerts.kindNearFlow', level: 'alerts.kindNearLevel' }[book.near_limit] ?? 'alerts.kindNearNone';
  const said = whole(form.values.percent, 100) && whole(form.values.minutes, 1440);
  return (
    <DialogForm ref={element} onSubmit={save} onCancel={onClose} submitLabel={t('common.save')} saving={set.isPending} refusal={refusal} curl={() => alertRulesCall(bucket, base, body(form.getValues()))}>
      {overtaken && (
        <OvertakenNotice
          overtaken={{ ...overtaken, current: { rules: stand.rules.map((rule) => alertRuleText(rule, t)).join('; ') || t('alerts.noRules') } }}
          fields={{ rules: t('alerts.title') }}
        />
      )}
      <Radio.Group label={t('alerts.kind')} {...form.getInputProps('kind')}>
        <Stack gap="xs" mt="xs">
          <Radio value="limited_share" data-autofocus={kind === 'limited_share' || undefined} label={t('alerts.kindLimited')} description={t('alerts.kindLimitedText')} />
          <Radio value="near_limit" data-autofocus={kind === 'near_limit' || undefined} label={t('alerts.kindNear')} description={t(near)} disabled={!book.near_limit && kind !== 'near_limit'} />
        </Stack>
      </Radio.Group>
      <NumberInput label={t('alerts.percent')} required min={1} max={100} clampBehavior="none" allowDecimal={false} {...form.getInputProps('percent')} />
      <NumberInput label={t('alerts.minutes')} required min={1} max={1440} clampBehavior="none" allowDecimal={false} {...form.getInputProps('minutes')} />
      <Switch label={t('alerts.enabled')} {...form.getInputProps('enabled', { type: 'checkbox' })} />
      <Textarea label={t('alerts.reason')} maxLength={500} {...form.getInputProps('reason')} />
      {said && (
        <Text size="sm" aria-live="polite">
          {t('alerts.preview', { rule: alertRuleText(form.values, t), minutes: form.values.minutes, end: endMinutes(form.values.minutes) })}
        </Text>
      )}
    </DialogForm>
  );
}

interface RuleValues {
  kind: string;
  percent: number;
  minutes: number;
  enabled: boolean;
  reason: string;
}

/** Where a rule stands in the list that is sent; one that is new, or gone by now, comes last. */
function placeOf(rules: readonly AlertRule[], id: number | undefined): number {
  const at = rules.findIndex((one) => one.id === id);
  return at < 0 ? rules.length : at;
}

/** All rules with one of them as it is to be; one that is gone by now is made anew. */
function withRule(rules: readonly AlertRule[], id: number | undefined, { reason, ...values }: RuleValues) {
  const all = rules.map(ruleInput);
  const at = placeOf(rules, id);
  all[at] = { ...(values as AlertRuleInput), ...(at < rules.length ? { id } : {}) };
  return { rules: all, reason: reason.trim() };
}

/** The rules as they are now, where somebody else was faster. */
function presentBook(error: unknown): AlertRules | null {
  if (!hasCode(error, 'stale') || !(error instanceof ApiError)) return null;
  return (error.problem.current ?? null) as AlertRules | null;
}

/** The input that holds a field of the rule that is being edited; what is said of the whole rule stands at its kind. */
function inputOf(field: string, at: number): string {
  const own = `rules[${at}]`;
  if (field === own) return 'kind';
  return field.startsWith(`${own}.`) ? field.slice(own.length + 1) : field;
}
