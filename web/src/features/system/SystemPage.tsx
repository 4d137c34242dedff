import { SimpleGrid, Skeleton, Stack } from '@mantine/core';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import { can, useMe } from '@/lib/api/me';
import type { System } from '@/lib/api/types';
import { PageHeader } from '@/components/PageHeader';
import { ErrorState, ForbiddenState } from '@/components/States';
import { useSystem } from './api/system';
import { BreakGlassCard } from './BreakGlassCard';
import { InstancesCard } from './InstancesCard';
import { OwnerCard } from './OwnerCard';
import { PartCard } from './PartCard';
import { ServersCard } from './ServersCard';
import { SyncCard } from './SyncCard';

/** How Headgate itself is: its parts, and whether Redis has what MySQL says. */
export function SystemPage() {
  const me = useMe();
  return can(me, 'system.see') ? <SystemState /> : <ForbiddenState permission="system.see" />;
}

function SystemState() {
  const { t } = useTranslation();
  const system = useSystem();
  return (
    <>
      <PageHeader title={t('system.title')} description={system.data ? describe(system.data, t) : t('system.description')} />
      {system.error && !system.data ? (
        <ErrorState error={system.error} onRetry={() => void system.refetch()} />
      ) : system.data ? (
        <Parts system={system.data} known={!system.error} />
      ) : (
        <Waiting />
      )}
    </>
  );
}

function describe(system: System, t: TFunction): string {
  return [t('system.version', { version: system.version }), system.embedded && t('shell.embeddedLong')].filter(Boolean).join(' · ');
}

// What could not be read anew is not known to be so still: with the database away nobody is told anything.
function Parts({ system, known }: { system: System; known: boolean }) {
  return (
    <Stack gap="lg">
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
        <PartCard which="database" part={system.database} known={known} />
        <PartCard which="redis" part={system.redis} known={known} />
      </SimpleGrid>
      <SyncCard />
      <ServersCard system={system} />
      <InstancesCard />
      <BreakGlassCard />
      <OwnerCard owner={system.owner} />
    </Stack>
  );
}

function Waiting() {
  const { t } = useTranslation();
  return (
    <Stack role="status" aria-label={t('common.loading')} gap="lg">
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
        <Skeleton height={130} />
        <Skeleton height={130} />
      </SimpleGrid>
      <Skeleton height={180} />
    </Stack>
  );
}
