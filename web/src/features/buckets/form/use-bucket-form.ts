import { useForm } from '@mantine/form';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { fieldErrorsOf, focusFirstInvalid, placeErrors } from '@/lib/form-errors';
import { validateBucket } from './validate';
import { inputNames, shownInputs, type BucketValues } from './values';

/** The state of the bucket form: values, rules, and the server's field errors put onto their inputs. */
export function useBucketForm(initial: BucketValues, creating: boolean) {
  const { t } = useTranslation();
  const element = useRef<HTMLFormElement>(null);
  const form = useForm<BucketValues>({
    initialValues: initial,
    validate: (values) => validateBucket(values, t, creating),
    validateInputOnBlur: false,
    clearInputErrorOnChange: true,
  });

  /** Marks the inputs that the server refused; returns what could not be placed, or null when the error is no refusal of fields. */
  function placeServerErrors(error: unknown): string[] | null {
    const fields = fieldErrorsOf(error);
    if (fields.length === 0) return null;
    const { placed, rest } = placeErrors(fields, shownInputs(form.getValues()), inputNames);
    form.setErrors(placed);
    focusFirstInvalid(element.current);
    return rest;
  }

  return { form, element, placeServerErrors, focusInvalid: () => focusFirstInvalid(element.current) };
}

export type BucketForm = ReturnType<typeof useBucketForm>['form'];
