import type { TFunction } from 'i18next';
import { ApiError } from '@/lib/api/problem';
import { errorText } from './error-text';
import { showNotice } from './notices';

/** Says that something was done. */
export function showDone(message: string, t: TFunction): void {
  showNotice({ message, color: 'teal', closeButtonProps: { 'aria-label': t('common.close') } });
}

/** Says that something was done, though not yet everywhere. */
export function showPending(message: string, t: TFunction): void {
  showNotice({
    message,
    color: 'orange',
    autoClose: 8_000,
    closeButtonProps: { 'aria-label': t('common.close') },
  });
}

/** Says why something failed; `message` says it where the caller knows better. */
export function showError(error: unknown, t: TFunction, message = errorText(error, t)): void {
  const id = error instanceof ApiError ? error.problem.request_id : undefined;
  showNotice({
    title: t('state.errorTitle'),
    message: [message, id && `${t('state.requestId')}: ${id}`].filter(Boolean).join(' '),
    color: 'red',
    autoClose: 10_000,
    closeButtonProps: { 'aria-label': t('common.close') },
  });
}
