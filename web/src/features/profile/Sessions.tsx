import { Badge, Button, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Session } from '@/lib/api/types';
import { DataTable, type Column } from '@/components/DataTable';
import { showDone, showError } from '@/components/notify';
import { RelativeTime } from '@/components/RelativeTime';
import { Section } from '@/components/Section';
import { ErrorState } from '@/components/States';
import { useEndOtherSessions, useEndSession, useSessions } from './api/profile';
import { deviceOf } from './device';

/** Where one is logged in, and the way to end it there. */
export function Sessions() {
  const { t } = useTranslation();
  const sessions = useSessions();
  const endOthers = useEndOtherSessions();
  const columns = useColumns();
  const others = sessions.data?.some((session) => !session.current) ?? false;
  const end = () =>
    endOthers.mutate(undefined, {
      onSuccess: ({ ended }) => showDone(t('profile.othersEnded', { count: ended }), t),
      onError: (error) => showError(error, t),
    });
  return (
    <Section
      title={t('profile.sessions')}
      description={t('profile.sessionsText')}
      actions={
        others && (
          <Button variant="default" size="xs" onClick={end} loading={endOthers.isPending}>
            {t('profile.endOthers')}
          </Button>
        )
      }
    >
      {sessions.error && !sessions.data ? (
        <ErrorState error={sessions.error} onRetry={() => void sessions.refetch()} />
      ) : (
        <DataTable label={t('profile.sessions')} columns={columns} rows={sessions.data} rowId={(session) => session.id} />
      )}
    </Section>
  );
}

function useColumns(): Column<Session>[] {
  const { t } = useTranslation();
  return [
    {
      id: 'device',
      header: t('profile.device'),
      heading: true,
      cell: (session) => (
        <Text component="span" fw={600} inherit title={session.user_agent}>
          {deviceOf(session.user_agent) || t('profile.unknownDevice')}
        </Text>
      ),
    },
    { id: 'address', header: t('profile.address'), cell: (session) => session.address },
    { id: 'created', header: t('profile.since'), cell: (session) => <RelativeTime at={session.created_at} /> },
    { id: 'used', header: t('profile.lastUsed'), cell: (session) => <RelativeTime at={session.last_used_at} /> },
    { id: 'end', header: t('table.actions'), cell: (session) => <End session={session} /> },
  ];
}

function End({ session }: { session: Session }) {
  const { t } = useTranslation();
  const end = useEndSession();
  if (session.current) {
    return (
      <Badge variant="default" tt="none">
        {t('profile.thisOne')}
      </Badge>
    );
  }
  return (
    <Button
      size="xs"
      variant="default"
      loading={end.isPending}
      aria-label={t('profile.endOf', { device: deviceOf(session.user_agent) || t('profile.unknownDevice') })}
      onClick={() =>
        end.mutate(session.id, { onSuccess: () => showDone(t('profile.ended'), t), onError: (error) => showError(error, t) })
      }
    >
      {t('profile.end')}
    </Button>
  );
}
