import { useForm, type UseFormInput } from '@mantine/form';
import { useRef, useState } from 'react';
import { fieldErrorsOf, focusFirstInvalid, placeErrors } from './form-errors';

/** A small form: its values and rules, the server's field errors on their inputs, and what belongs to no input. */
export function useSimpleForm<T extends Record<string, unknown>>(input: UseFormInput<T>) {
  const form = useForm<T>(input);
  const element = useRef<HTMLFormElement>(null);
  const [refusal, setRefusal] = useState<string[]>([]);

  function refused(error: unknown, otherwise: string) {
    const fields = fieldErrorsOf(error);
    const { placed, rest } = placeErrors(fields, Object.keys(form.getValues()));
    form.setErrors(placed);
    setRefusal(fields.length > 0 ? rest : [otherwise]);
    focusFirstInvalid(element.current);
  }

  function onSubmit(save: (values: T) => void) {
    return form.onSubmit(
      (values) => {
        setRefusal([]);
        save(values);
      },
      () => focusFirstInvalid(element.current),
    );
  }

  return { form, element, refusal, refused, onSubmit };
}
