import { test } from '@playwright/test';
import { login } from './login';
import { ensureAdminSamples, ensureSamples } from './samples';

test('there is something to look at', async ({ request }) => {
  await login(request, 'owner');
  await ensureSamples(request);
  await login(request, 'admin');
  await ensureAdminSamples(request);
});
