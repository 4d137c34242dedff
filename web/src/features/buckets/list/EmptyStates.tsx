import { Button, Stack, Text } from '@mantine/core';
import { useInterval } from '@mantine/hooks';
import { IconBucketDroplet, IconFilterOff } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { can, useMe } from '@/lib/api/me';
import { useAppNames } from '@/lib/api/names';
import { allApps } from '@/lib/definition';
import { ClearFilters } from '@/components/ClearFilters';
import { CodeBlock } from '@/components/CodeBlock';
import { State } from '@/components/States';

export function NoBucketMatches({ onClear }: { onClear: () => void }) {
  const { t } = useTranslation();
  return (
    <State
      icon={IconFilterOff}
      title={t('buckets.noMatch')}
      actions={<ClearFilters onClear={onClear} />}
    >
      <Text c="dimmed">{t('buckets.noMatchText')}</Text>
    </State>
  );
}

const askAgain = 3_000; // ms

/** Shown before there is any bucket: what a bucket is, and a call that makes one from the command line. */
export function FirstBucket() {
  const { t } = useTranslation();
  const me = useMe();
  const mayCreate = can(me, 'bucket.create');
  const everywhere = can(me, 'bucket.all_apps');
  const apps = useAppNames('');
  const queryClient = useQueryClient();
  // Whoever runs the call in a terminal sees it arrive here.
  useInterval(() => void queryClient.invalidateQueries({ queryKey: ['buckets', 'list'] }), askAgain, { autoInvoke: true });
  return (
    <State
      icon={IconBucketDroplet}
      title={t('buckets.emptyTitle')}
    >
      <Text c="dimmed" maw={560}>
        {t('buckets.emptyText')}
      </Text>
      {mayCreate && (
        <Button component={Link} to="/create/bucket" my="xs">
          {t('buckets.createFirst')}
        </Button>
      )}
      {mayCreate && (
        <Stack w="100%" maw={760} gap="xs">
          <Text size="sm" c="dimmed">
            {t('buckets.emptyCall')}
          </Text>
          <CodeBlock label={t('buckets.emptyCallLabel')} code={firstCall(location.origin, me.name, everywhere ? [allApps] : (apps.data ?? []).slice(0, 1))} />
        </Stack>
      )}
    </State>
  );
}

function firstCall(origin: string, user: string, apps: string[]): string {
  const login = `{"name":"${user}","password":"'"$HEADGATE_PASSWORD"'"}`;
  const bucket = JSON.stringify({
    name: 'partner-api',
    reason: 'first try',
    apps,
    owners: [user],
    max_permits: 100,
    rate: 50,
    period_ms: 1000,
    partition: 'shared',
  });
  return [
    `curl -sS -c headgate.cookies -H 'Content-Type: application/json' \\`,
    `  -d '${login}' ${origin}/api/v1/auth/login`,
    `curl -sS -b headgate.cookies -H 'Content-Type: application/json' \\`,
    `  -d '${bucket}' ${origin}/api/v1/buckets`,
  ].join('\n');
}
