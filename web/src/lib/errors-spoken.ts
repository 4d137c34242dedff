import { useEffect, useEffectEvent, useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

/** What is asked of a form of Mantine's. */
interface Errors {
  errors: Record<string, ReactNode>;
  validateField: (name: string) => { hasError: boolean };
  setFieldError: (name: string, error: ReactNode) => void;
}

/**
 * Says a form's errors again when the language changes: those of its own rules, and those that the server put on its inputs,
 * which `refused` puts into words.
 */
export function useErrorsSpoken(form: Errors, refused: () => Record<string, string>) {
  const { i18n } = useTranslation();
  const spoken = useRef(i18n.language);
  const sayAgain = useEffectEvent(() => {
    const again = refused();
    for (const [name, error] of Object.entries(form.errors)) {
      if (!form.validateField(name).hasError) form.setFieldError(name, again[name] ?? error);
    }
  });
  useEffect(() => {
    if (spoken.current === i18n.language) return;
    spoken.current = i18n.language;
    sayAgain();
  }, [i18n.language]);
}
