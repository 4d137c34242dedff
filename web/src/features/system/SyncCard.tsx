import { Anchor, Group, Skeleton, Stack, Text } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { can, useMe } from '@/lib/api/me';
import type { SystemSync } from '@/lib/api/types';
import { useUrlDialog } from '@/lib/url-dialog';
import { ActionButton } from '@/components/ActionButton';
import { errorText } from '@/components/error-text';
import { RelativeTime } from '@/components/RelativeTime';
import { Section } from '@/components/Section';
import { StateBadge } from '@/components/StateBadge';
import { useSystemSync } from './api/system';
import { DriftList, NameList, PendingList } from './SyncLists';
import { ReconcileDialog } from './ReconcileDialog';

/** Whether Redis has what the database says: what waits and why, what was found to differ, and what only Redis has. */
export function SyncCard() {
  const { t } = useTranslation();
  const me = useMe();
  const [opened, { open, close }] = useUrlDialog('reconcile');
  const denied = can(me, 'system.manage') ? undefined : t('system.reconcileDenied');
  const { data, error } = useSystemSync();
  const tone = !data || data.state === 'starting' ? 'watch' : data.state !== 'ok' ? 'bad' : data.pending > 0 ? 'watch' : 'good';
  return (
    <Section
      title={t('system.sync')}
      description={t('system.syncText')}
      actions={data && <StateBadge tone={error ? 'watch' : tone}>{error ? t('system.unknown') : label(data, t)}</StateBadge>}
    >
      <Stack>
        {data ? <Standing sync={data} /> : error ? <Text role="status">{errorText(error, t)}</Text> : <Skeleton height={80} />}
        <Group>
          <ActionButton
            variant="default"
            onClick={open}
            leftSection={<IconRefresh size={16} aria-hidden />}
            denied={denied}
          >
            {t('system.reconcile')}
          </ActionButton>
        </Group>
      </Stack>
      <ReconcileDialog opened={opened && denied === undefined} onClose={close} />
    </Section>
  );
}

function label(sync: SystemSync, t: ReturnType<typeof useTranslation>['t']): string {
  if (sync.state !== 'ok') return t(`system.syncState.${sync.state}`);
  return t(sync.pending === 0 ? 'system.equal' : 'system.behind');
}

function Standing({ sync }: { sync: SystemSync }) {
  const { t } = useTranslation();
  return (
    <>
      {sync.pending === 0 ? (
        <Text>{t('system.nonePending')}</Text>
      ) : (
        <>
          <Anchor component={Link} to="/buckets?sync=pending">
            {t('system.pending', { count: sync.pending })}
          </Anchor>
          <PendingList items={sync.pending_buckets} />
        </>
      )}
      <Group gap="xl" style={{ rowGap: 4 }}>
        <Fact name={t('system.lastPass')} at={sync.last_pass} />
        <Fact name={t('system.lastRepair')} at={sync.last_repair} />
        {sync.last_loss && <Fact name={t('system.lastLoss')} at={sync.last_loss} />}
      </Group>
      {sync.last_drift && <DriftList items={sync.drift} at={sync.last_drift} />}
      {sync.orphans > 0 && <NameList names={sync.orphan_names} total={sync.orphans} />}
    </>
  );
}

function Fact({ name, at }: { name: string; at: string | null }) {
  const { t } = useTranslation();
  return (
    <Text size="sm">
      <Text span c="dimmed" size="sm">
        {name}
      </Text>{' '}
      {at ? <RelativeTime at={at} /> : t('system.notYet')}
    </Text>
  );
}
