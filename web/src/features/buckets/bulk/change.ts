import type { TFunction } from 'i18next';
import { fieldErrorsOf, placeErrors } from '@/lib/form-errors';
import type { Bucket, BulkChange } from '@/lib/api/types';
import { labelsError } from '@/features/buckets/form/validate';
import { splitLabel } from '@/features/buckets/form/values';

/** What is typed into the bulk edit; "" and empty lists leave things as they are. */
export interface BulkValues {
  mode: string;
  setLabels: string[];
  removeLabels: string[];
  addOwners: string[];
  removeOwners: string[];
}

export const unchanged: BulkValues = { mode: '', setLabels: [], removeLabels: [], addOwners: [], removeOwners: [] };

/** What of a bulk edit outlives the end of the session. */
export interface BulkDraft {
  buckets: readonly Bucket[];
  edit: BulkValues;
  why: string;
}

export function toChange(values: BulkValues): BulkChange {
  return {
    ...(values.mode ? { mode: values.mode } : {}),
    ...(values.setLabels.length > 0 ? { set_labels: Object.fromEntries(values.setLabels.map(splitLabel)) } : {}),
    ...(values.removeLabels.length > 0 ? { remove_labels: values.removeLabels } : {}),
    ...(values.addOwners.length > 0 ? { add_owners: values.addOwners } : {}),
    ...(values.removeOwners.length > 0 ? { remove_owners: values.removeOwners } : {}),
  };
}

export type BulkErrors = Partial<Record<keyof BulkValues, string>>;

/** The rules that can be told before anything is sent. `none` is set when nothing is to be changed. */
export function validateBulk(values: BulkValues, t: TFunction): { errors: BulkErrors; none: boolean } {
  const errors: BulkErrors = {};
  const labels = labelsError(values.setLabels, t);
  if (labels) errors.setLabels = labels;
  const set = values.setLabels.map((label) => splitLabel(label)[0]);
  if (values.removeLabels.some((key) => set.includes(key))) errors.removeLabels = t('bulk.both');
  if (values.removeOwners.some((name) => values.addOwners.includes(name))) errors.removeOwners = t('bulk.both');
  return { errors, none: Object.keys(toChange(values)).length === 0 };
}

const inputs = { mode: 'mode', set_labels: 'setLabels', remove_labels: 'removeLabels', add_owners: 'addOwners', remove_owners: 'removeOwners' };

/** A refusal's field errors on their inputs, and those of no input. */
export function placeBulkErrors(error: unknown): { placed: BulkErrors; rest: string[] } {
  const fields = fieldErrorsOf(error).map((fault) => ({ ...fault, field: fault.field.replace(/^change[.]/, '') }));
  return placeErrors(fields, Object.values(inputs), inputs);
}
