import type { Token, TokenScope } from '@/lib/api/types';

/** What a token may be allowed, least first. */
export const scopes = ['read', 'write', 'audit', 'admin'] as const satisfies readonly TokenScope[];

/** The lives that the form offers, in days. The server takes any from 1 to 365, and none without an end. */
export const lives = [7, 30, 90, 180, 365] as const;
export const usualLife = 90;

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Whether a text may name a token. */
export function isTokenName(text: string): boolean {
  return namePattern.test(text);
}

/** Whether a token still lives, so that it can be revoked. A suspended one may come back. */
export function mayEnd({ state }: Token): boolean {
  return state === 'active' || state === 'suspended';
}

const day = 24 * 60 * 60 * 1000; // ms
const soonDays = 14;

/** Whether an active token ends so soon that its owner should make the next one. */
export function endsSoon(expiresAt: string, now: Date): boolean {
  const left = new Date(expiresAt).getTime() - now.getTime();
  return left > 0 && left < soonDays * day;
}
