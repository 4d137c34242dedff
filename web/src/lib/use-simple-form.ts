import { useForm, type UseFormInput } from '@mantine/form';
import { useEffect, useRef, useState } from 'react';
import { ApiError, hasCode } from '@/lib/api/problem';
import { useDraft } from './drafts';
import { equal } from './diff/fields';
import { useErrorsSpoken } from './errors-spoken';
import { fieldErrorsOf, focusFirstInvalid, placeErrors } from './form-errors';
import { useOpenForm } from './unsaved';

/** The record that an edit overtook: what it is now, beside what the form holds. */
export interface Overtaken {
  current: Record<string, unknown>;
  /** Bases the edit on the present record; the input stays. */
  keep: () => void;
}

/**
 * A small form: its values and rules, the server's field errors on their inputs, and what belongs to no input. What was
 * typed is asked about before it is left, and comes back after a login. `revision` is that of the record being edited.
 */
export function useSimpleForm<T extends Record<string, unknown>>(input: UseFormInput<T>, revision?: number) {
  const form = useForm<T>(input);
  const element = useRef<HTMLFormElement>(null);
  const [refusal, setRefusal] = useState<string[]>([]);
  const [overtaken, setOvertaken] = useState<Overtaken | null>(null);
  const id = Object.keys(input.initialValues ?? {}).join(); // the inputs of a form tell it from the others of its page
  const draft = useDraft<T>(id);
  const [base, setBase] = useState(typeof draft?.base === 'number' ? draft.base : revision);
  const sent = useRef<T | null>(null);
  const placed = useRef<() => ReturnType<typeof placeErrors>>(() => ({ placed: {}, rest: [] })); // the last refusal
  useErrorsSpoken(form, () => placed.current().placed);

  const restore = useRef(() => draft && form.setValues(draft.values));
  useEffect(() => {
    restore.current();
  }, []);

  useOpenForm({
    // What was sent is not unsaved, until it is refused.
    dirty: () => form.isDirty() && !(equal(form.getValues(), sent.current) && Object.keys(form.errors).length === 0),
    // But it is kept when the session turns out to have ended.
    keep: () => (form.isDirty() ? { id, values: form.getValues(), ...(base === undefined ? {} : { base }) } : null),
  });

  /** Shows a refusal: the faults on their inputs, else `otherwise`. `inputOf` says which input holds a field of the API. */
  function refused(error: unknown, otherwise: string, inputOf = (field: string) => field) {
    sent.current = null;
    if (base !== undefined && hasCode(error, 'stale') && error instanceof ApiError && isRecord(error.problem.current)) {
      const current = error.problem.current;
      setOvertaken({
        current,
        keep: () => {
          setBase(Number(current.revision));
          setOvertaken(null);
        },
      });
      return;
    }
    const place = () => placeErrors(fieldErrorsOf(error).map((fault) => ({ ...fault, field: inputOf(fault.field) })), Object.keys(form.getValues()));
    const now = place();
    placed.current = place;
    form.setErrors(now.placed);
    setRefusal(fieldErrorsOf(error).length > 0 ? now.rest : [otherwise]);
    focusFirstInvalid(element.current);
  }

  function onSubmit(save: (values: T) => void) {
    return form.onSubmit(
      (values) => {
        setRefusal([]);
        sent.current = structuredClone(form.getValues());
        save(values);
      },
      () => focusFirstInvalid(element.current),
    );
  }

  return { form, element, refusal, refused, onSubmit, base, overtaken };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && 'revision' in value;
}
