import type { TFunction } from 'i18next';
import { joinPeriod } from '@/lib/format/limit';
import { isKeyed, limitKind } from '@/lib/definition';
import { splitLabel, type BucketValues } from './values';

// The same rules as the server's, so that most mistakes are seen before anything is sent. The server decides.

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const labelKeyPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
const million = 1_000_000;

export const bounds = {
  permits: 1000 * million,
  entries: 100_000, // max_permits where Redis keeps an entry for each
  rate: 1000 * million,
  periodMs: 31 * 86_400_000,
  leaseMs: 1_000, // least
  maxWaitSeconds: 3600,
  shards: 64,
  apps: 1000,
  owners: 100,
  labels: 20,
  labelValue: 63,
  description: 1000,
  reason: 500,
  fillYears: 10,
} as const;

const tenYearsMs = bounds.fillYears * 366 * 86_400_000;

export type BucketErrors = Partial<Record<keyof BucketValues, string>>;

/** The broken rules of the form, each in words with its bound. `creating` also asks for name and reason. */
export function validateBucket(values: BucketValues, t: TFunction, creating: boolean): BucketErrors {
  const errors: BucketErrors = {};
  const add = (field: keyof BucketValues, message: string | undefined) => {
    if (message && !errors[field]) errors[field] = message;
  };
  if (creating) {
    add('name', namePattern.test(values.name) ? undefined : t('rule.name'));
    add('reason', reasonError(values.reason, t));
  }
  add('description', [...values.description].length > bounds.description ? t('rule.text', { max: bounds.description }) : undefined);
  add('labels', labelsError(values.labels, t));
  add('apps', values.apps.length > bounds.apps ? t('rule.most', { max: bounds.apps }) : undefined);
  add('owners', values.owners.length < 1 ? t('rule.owners') : undefined);
  add('owners', values.owners.length > bounds.owners ? t('rule.most', { max: bounds.owners }) : undefined);
  const hasRate = limitKind(values.algorithm) === 'rate';
  add('max_permits', integerError(values.max_permits, 1, permitsBound(values.algorithm), t));
  if (hasRate) add('rate', integerError(values.rate, 1, bounds.rate, t));
  add('period', periodError(values, t));
  add('partition', values.partition === '' ? t('rule.partition') : undefined);
  if (isKeyed(values.partition)) add('shards', integerError(values.shards, 1, bounds.shards, t));
  add('maxWait', waitError(values.maxWait, t));
  if (Object.keys(errors).length === 0 && hasRate && fillsTooSlowly(values)) add('rate', t('rule.fill', { years: bounds.fillYears }));
  return errors;
}

export function reasonError(reason: string, t: TFunction): string | undefined {
  if (reason.trim() === '') return t('rule.reason');
  return [...reason.trim()].length > bounds.reason ? t('rule.text', { max: bounds.reason }) : undefined;
}

function integerError(value: number | string, low: number, high: number, t: TFunction): string | undefined {
  if (value === '') return t('rule.required');
  const n = Number(value);
  return Number.isInteger(n) && n >= low && n <= high ? undefined : t('rule.integer', { low, high });
}

function permitsBound(algorithm: string): number {
  return algorithm === 'sliding_log' || algorithm === 'concurrency' ? bounds.entries : bounds.permits;
}

function periodError(values: BucketValues, t: TFunction): string | undefined {
  if (values.period === '') return t('rule.required');
  const context = limitKind(values.algorithm);
  const ms = joinPeriod(Number(values.period), values.periodUnit);
  const least = context === 'slots' ? bounds.leaseMs : 1;
  return Number.isInteger(Number(values.period)) && ms >= least && ms <= bounds.periodMs ? undefined : t('rule.period', { context });
}

function waitError(value: number | string, t: TFunction): string | undefined {
  const seconds = Number(value);
  const wholeMs = Math.abs(seconds * 1000 - Math.round(seconds * 1000)) < 1e-6;
  return value !== '' && wholeMs && seconds >= 0 && seconds <= bounds.maxWaitSeconds ? undefined : t('rule.maxWait', { max: bounds.maxWaitSeconds });
}

/** What is wrong with labels written as "key=value". */
export function labelsError(labels: string[], t: TFunction): string | undefined {
  if (labels.length > bounds.labels) return t('rule.most', { max: bounds.labels });
  const keys = labels.map((label) => splitLabel(label)[0]);
  if (new Set(keys).size < keys.length) return t('rule.labelTwice');
  const broken = labels.some((label) => {
    const [key, value] = splitLabel(label);
    return !label.includes('=') || !labelKeyPattern.test(key) || [...value].length > bounds.labelValue;
  });
  return broken ? t('rule.label') : undefined;
}

function fillsTooSlowly(values: BucketValues): boolean {
  const ms = joinPeriod(Number(values.period), values.periodUnit);
  return (Number(values.max_permits) * ms) / Number(values.rate) >= tenYearsMs;
}
