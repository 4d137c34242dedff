import { setNonce } from 'get-nonce';

/** The nonce that the server put into this page; "" in development, where no Content-Security-Policy is sent. */
export const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';

// Libraries that write style elements (scroll locking) ask get-nonce for it.
if (nonce) setNonce(nonce);
