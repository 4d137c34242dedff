import i18next from 'i18next';
import { ApiError, type FieldProblem } from '@/lib/api/problem';
import { saidRule } from '@/lib/said-rule';

/** "apps[3]" and "labels.team" belong to the inputs "apps" and "labels". */
function inputOf(field: string): string {
  return field.replace(/^body\./, '').replace(/[[.].*$/, '');
}

/**
 * Sorts a refusal's field errors onto a form's inputs. `names` maps an API field to the input that holds it where they
 * differ. Errors of fields that the form does not show come back in `rest`.
 */
export function placeErrors(
  fields: readonly FieldProblem[],
  inputs: readonly string[],
  names: Readonly<Record<string, string>> = {},
): { placed: Record<string, string>; rest: string[] } {
  const placed: Record<string, string> = {};
  const rest: string[] = [];
  for (const { field, message } of fields) {
    const base = inputOf(field);
    const input = names[base] ?? base;
    if (!inputs.includes(input)) rest.push(faultInWords({ field, message }));
    else placed[input] = placed[input] ? `${placed[input]}; ${message}` : message;
  }
  return { placed, rest };
}

/** A refusal's field errors in the reader's language. */
export function fieldErrorsOf(error: unknown): FieldProblem[] {
  if (!(error instanceof ApiError) || error.code === 'malformed') return []; // what is no JSON has no fields
  return inWords(error.fields);
}

/** A field error as a sentence of its own, under the word that the forms have for its field. */
export function faultInWords({ field, message }: FieldProblem): string {
  const label = i18next.t(`field.${inputOf(field)}`, { defaultValue: field }) || field;
  return `${label}: ${message}`;
}

/** Field errors with their rules in the reader's language, as far as this console knows them. */
export function inWords(faults: readonly FieldProblem[]): FieldProblem[] {
  return faults.map((fault) => ({ ...fault, message: saidRule(fault.code, fault.params, i18next.t) ?? fault.message }));
}

// Mantine marks text inputs by the first, radio buttons by the others.
const invalid = '[aria-invalid="true"], input[data-error="true"], [data-error="true"] input, [data-invalid="true"] input';

/** Puts the focus on the first input that is marked invalid, once the marks are on the page: within so many frames. */
export function focusFirstInvalid(form: HTMLElement | null, frames = 60): void {
  requestAnimationFrame(() => {
    const first = form?.querySelector<HTMLElement>(invalid);
    if (first) first.focus();
    else if (frames > 1) focusFirstInvalid(form, frames - 1);
  });
}
