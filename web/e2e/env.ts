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

/** The client-demo binary. */
export function loadBinary(): string {
  return needed('HEADGATE_E2E_LOAD');
}

export function redisUrl(): string {
  return needed('HEADGATE_E2E_REDIS_URL');
}

/** Where the server's database is taken away and brought back. */
export function databaseSwitch(): string {
  return needed('HEADGATE_E2E_DATABASE');
}
