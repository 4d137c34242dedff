import type { Role } from '@/lib/api/types';

/** The global roles, least first. */
export const roles: readonly Role[] = ['member', 'auditor', 'admin'];
