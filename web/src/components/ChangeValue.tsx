import { Code } from '@mantine/core';
import type { TFunction } from 'i18next';
import type { ReactNode } from 'react';
import type { AlertRule } from '@/lib/api/types';
import { formatNumber } from '@/lib/format/numbers';
import { absoluteTime } from '@/lib/format/time';
import type { Zone } from '@/lib/zone';
import { alertRuleText } from './alert-text';
import { showDefinitionValue } from './DefinitionValue';

export interface Reader {
  t: TFunction;
  language: string;
  zone: Zone;
}

type Show = (value: unknown, reader: Reader) => ReactNode;

const time: Show = (value, { language, zone }) => absoluteTime(new Date(String(value)), language, zone);
const number: Show = (value, { language }) => formatNumber(Number(value), language);
const percent: Show = (value, { language }) => `${formatNumber(Number(value), language, 1)}%`;
const yesNo: Show = (value, { t }) => t(value === true ? 'common.yes' : 'common.no');
const code: Show = (value) => <Code>{String(value)}</Code>;
const codes: Show = (value, { t }) => (Array.isArray(value) && value.length > 0 ? <Code>{value.join(', ')}</Code> : t('fieldValue.everything'));

/** How the fields of what is no bucket are said: tokens, webhooks, alerts, exports and the like. */
const shows: Readonly<Record<string, Show>> = {
  expires_at: time,
  since: time,
  signs_from: time,
  percent: number,
  minutes: number,
  ended: number,
  permits: number,
  buckets: number,
  dropped: number,
  value: percent,
  peak: percent,
  service: yesNo,
  checkpoints: yesNo,
  enabled: yesNo,
  now: yesNo,
  url: code,
  session: code,
  key: code,
  hash: code,
  issuer: code,
  subject: code,
  deployment_id: code,
  scopes: codes,
  actions: codes,
  rules: (value, { t }) => lines((value as AlertRule[]).map((rule) => ruleText(rule, t)), t),
  filters: (value, { t }) => lines(Object.entries(value as Record<string, string>).map(([name, text]) => `${name} = ${text}`), t),
  kind: (value, { t }) => t(`fieldValue.${String(value)}`, { defaultValue: String(value) }),
  scope: (value, { t }) => t(value === 'all' ? 'breakGlass.all' : 'breakGlass.oneApp'),
  cause: (value, { t }) => t(`alerts.${String(value)}`, { defaultValue: String(value) }),
  of: (value, { t }) => t(`exported.${String(value)}`, { defaultValue: String(value) }),
  target_kind: (value, { t }) => t(`kind.${String(value)}`, { defaultValue: String(value) }),
  password: (_value, { t }) => t('fieldValue.changed'),
  secret: (_value, { t }) => t('fieldValue.changed'),
};

/** One field of a change row in words, whatever the row tells of. */
export function showChangeValue(field: string, value: unknown, reader: Reader): ReactNode {
  const nothing = value === undefined || value === null || value === '';
  const show = nothing ? undefined : shows[field];
  return show ? show(value, reader) : showDefinitionValue(field, value, reader.t, reader.language);
}

function lines(texts: string[], t: TFunction): ReactNode {
  if (texts.length === 0) return t('common.none');
  return texts.map((text) => (
    <span key={text} data-line style={{ display: 'block' }}>
      {text}
    </span>
  ));
}

function ruleText(rule: AlertRule, t: TFunction): string {
  const text = alertRuleText(rule, t);
  return rule.enabled ? text : `${text} (${t('alerts.off')})`;
}
