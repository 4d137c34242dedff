import { useCallback } from 'react';
import { useNavigate, useSearchParams, useLocation } from 'react-router';
import { decided } from './unsaved';

/** The search parameter that names the open dialog. */
export const dialogParam = 'open';

interface DialogSwitch {
  /** Opens the dialog, of one record where there are many. */
  open: (of?: string) => void;
  /** Says anew what the open dialog is open for; the way back does not stop there. */
  change: (of: string) => void;
  close: () => void;
}

/**
 * A dialog whose being open is in the URL, so that a reload, a link and the way back after a login find it as it was.
 * The first value is null while it is closed, else what it is open for ("" where that needs no saying).
 */
export function useUrlDialogOf(name: string): [string | null, DialogSwitch] {
  const navigate = useNavigate();
  const { state } = useLocation();
  const [params] = useSearchParams();
  const [opened, of = ''] = split(params.get(dialogParam) ?? '');
  const go = useCallback(
    (value: string | null, replace: boolean) => {
      const next = new URLSearchParams(params);
      if (value === null) next.delete(dialogParam);
      else next.set(dialogParam, value);
      // Closing comes after the form was saved, or given up by its maker's own word.
      decided(() => void navigate({ search: next.toString() }, { state, replace, preventScrollReset: true }));
    },
    [navigate, params, state],
  );
  const open = useCallback((one?: string) => go(typeof one === 'string' ? `${name}:${one}` : name, false), [go, name]);
  const change = useCallback((one: string) => go(`${name}:${one}`, true), [go, name]);
  const close = useCallback(() => go(null, true), [go]);
  return [opened === name ? of : null, { open, change, close }];
}

function split(value: string): [string, string?] {
  const at = value.indexOf(':');
  return at < 0 ? [value] : [value.slice(0, at), value.slice(at + 1)];
}

/** A dialog of which the page has one, as useDisclosure is, with its state in the URL. */
export function useUrlDialog(name: string): [boolean, { open: () => void; close: () => void }] {
  const [of, { open, close }] = useUrlDialogOf(name);
  return [of !== null, { open: () => open(), close }];
}
