import { useForm } from '@mantine/form';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { Draft } from '@/lib/drafts';
import { useErrorsSpoken } from '@/lib/errors-spoken';
import { fieldErrorsOf, focusFirstInvalid, placeErrors } from '@/lib/form-errors';
import { useOpenForm } from '@/lib/unsaved';
import { validateBucket } from './validate';
import { inputNames, shownInputs, type BucketValues } from './values';

/** The name under which the input of the bucket form is kept over a login. */
export const bucketFormId = 'bucket';

interface BucketFormOptions {
  initial: BucketValues;
  creating: boolean;
  /** What was typed before the session ended. */
  draft: Draft<Partial<BucketValues>> | null;
  /** What an edit stands on; it is kept together with the input. */
  base?: unknown;
}

/** The state of the bucket form: values, rules, and the server's field errors put onto their inputs. */
export function useBucketForm({ initial, creating, draft, base }: BucketFormOptions) {
  const { t } = useTranslation();
  const element = useRef<HTMLFormElement>(null);
  const form = useForm<BucketValues>({
    initialValues: initial,
    validate: (values) => validateBucket(values, t, creating),
    validateInputOnBlur: false,
    clearInputErrorOnChange: true,
  });

  const refused = useRef<unknown>(null);
  const place = () => placeErrors(fieldErrorsOf(refused.current), shownInputs(form.getValues()), inputNames);
  useErrorsSpoken(form, () => place().placed);

  const restore = useRef(() => draft && form.setValues(draft.values));
  useEffect(() => {
    restore.current();
  }, []);
  useOpenForm({ dirty: () => form.isDirty(), keep: () => (form.isDirty() ? { id: bucketFormId, values: form.getValues(), base } : null) });

  /** Marks the inputs that the server refused; returns what could not be placed, or null when the error is no refusal of fields. */
  function placeServerErrors(error: unknown): string[] | null {
    if (fieldErrorsOf(error).length === 0) return null;
    refused.current = error;
    const { placed, rest } = place();
    form.setErrors(placed);
    focusFirstInvalid(element.current);
    return rest;
  }

  return { form, element, placeServerErrors, focusInvalid: () => focusFirstInvalid(element.current) };
}

export type BucketForm = ReturnType<typeof useBucketForm>['form'];
