import { test } from '@playwright/test';

/** A user of the environment under test. */
export interface Login {
  name: string;
  password: string;
}

export type Who = 'owner' | 'auditor' | 'stranger' | 'admin';

function needed(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} must be set`);
  return value;
}

export function logins(): Record<Who, Login> {
  return JSON.parse(needed('HEADGATE_E2E_LOGINS')) as Record<Who, Login>;
}

/** A fact of the server under the running test: those that trouble everybody have one of their own. */
function ofGround(name: string): string {
  return needed(`HEADGATE_E2E_${test.info().project.name.startsWith('alone') ? 'ALONE_' : ''}${name}`);
}

/** The client-demo binary. */
export function loadBinary(): string {
  return needed('HEADGATE_E2E_LOAD');
}

export function redisUrl(): string {
  return ofGround('REDIS_URL');
}

/** Where the server's database is taken away and brought back. */
export function databaseSwitch(): string {
  return ofGround('DATABASE');
}
