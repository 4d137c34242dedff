import { Checkbox, Select, Switch, TextInput, Textarea } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import { characters, descriptionBound } from '@/lib/rules';
import { actions, targetKinds } from '@/lib/actions';
import { actionLabel } from '@/components/action-text';
import { NamesPicker } from '@/components/NamesPicker';

/** What people edit of an endpoint. */
export interface WebhookValues extends Record<string, unknown> {
  url: string;
  description: string;
  actions: string[];
  target_kind: string;
  target: string;
  checkpoints: boolean;
  enabled: boolean;
  reason: string;
}

export const noWebhook: WebhookValues = {
  url: '',
  description: '',
  actions: [],
  target_kind: '',
  target: '',
  checkpoints: false,
  enabled: true,
  reason: '',
};

/** The values as the server takes them. */
export function bodyOf<T extends WebhookValues>(values: T): T {
  return { ...values, url: values.url.trim(), target: values.target.trim(), reason: values.reason.trim() };
}

/** The rules that the browser can see; the server has more of them. */
export function webhookRules(t: TFunction) {
  return {
    url: (url: string) => (/^https?:\/\/\S+$/.test(url.trim()) ? null : t('webhooks.urlRule')),
    description: (text: string) => (characters(text) <= descriptionBound ? null : t('rule.text', { max: descriptionBound })),
    target_kind: (kind: string, values: WebhookValues) => (values.target.trim() && !kind ? t('webhooks.targetRule') : null),
  };
}

/** Groups such as "bucket" stand for all actions that begin with them. */
const groups = [...new Set(actions.flatMap((action) => (action.includes('.') ? [action.slice(0, action.indexOf('.'))] : [])))].sort();

/** The inputs of an endpoint, the same in the dialogs that make and change one. */
export function WebhookFields<T extends WebhookValues>({ form }: { form: UseFormReturnType<T> }) {
  const { t } = useTranslation();
  const choices = [
    ...groups.map((group) => ({ value: group, label: t('webhooks.group', { group }) })),
    ...actions.filter((action) => !groups.includes(action)).map((action) => ({ value: action, label: actionLabel(action, t) })),
  ];
  return (
    <>
      <TextInput
        label={t('webhooks.url')}
        description={t('webhooks.urlHint')}
        type="url"
        required
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps('url')}
      />
      <NamesPicker
        label={t('webhooks.tells')}
        description={t('webhooks.tellsHint')}
        placeholder={t('webhooks.everything')}
        options={choices}
        {...form.getInputProps('actions')}
      />
      <Select
        label={t('field.target_kind')}
        description={t('webhooks.kindHint')}
        placeholder={t('common.any')}
        data={targetKinds.map((kind) => ({ value: kind, label: t(`kind.${kind}`) }))}
        clearable
        clearButtonProps={{ 'aria-label': t('common.clear') }}
        {...form.getInputProps('target_kind')}
        value={form.getValues().target_kind || null}
        onChange={(kind) => form.getInputProps('target_kind').onChange(kind ?? '')}
      />
      <TextInput label={t('webhooks.target')} description={t('webhooks.targetHint')} autoComplete="off" spellCheck={false} {...form.getInputProps('target')} />
      <Textarea label={t('field.description')} autosize minRows={2} {...form.getInputProps('description')} />
      <Checkbox
        label={t('webhooks.checkpoints')}
        description={t('webhooks.checkpointsHint')}
        {...form.getInputProps('checkpoints', { type: 'checkbox' })}
      />
      <Switch label={t('webhooks.enabled')} description={t('webhooks.enabledHint')} {...form.getInputProps('enabled', { type: 'checkbox' })} />
      <Textarea label={t('webhooks.reason')} maxLength={500} {...form.getInputProps('reason')} />
    </>
  );
}
