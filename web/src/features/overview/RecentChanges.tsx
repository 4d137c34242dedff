import { Anchor, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { can, useMe } from '@/lib/api/me';
import type { Change } from '@/lib/api/types';
import { actionText } from '@/components/action-text';
import { reasonText } from '@/components/reason-text';
import { RelativeTime } from '@/components/RelativeTime';
import { Section } from '@/components/Section';

const pages: Record<string, (name: string) => string> = {
  bucket: (name) => `/buckets/${name}/history`,
  app: (name) => `/apps/${name}`,
};

/** The newest changes of what one may see. */
export function RecentChanges({ changes }: { changes: readonly Change[] }) {
  const { t } = useTranslation();
  const me = useMe();
  const more = can(me, 'audit.read') && (
    <Anchor component={Link} to="/audit" size="sm">
      {t('overview.wholeLog')}
    </Anchor>
  );
  return (
    <Section title={t('overview.changes')} actions={more}>
      {changes.length === 0 && (
        <Text c="dimmed" size="sm">
          {t('overview.changesNone')}
        </Text>
      )}
      <Stack component="ol" gap="xs" p={0} m={0} style={{ listStyle: 'none' }}>
        {changes.map((change) => (
          <li key={change.id}>
            <Group justify="space-between" gap="sm" wrap="nowrap" align="baseline">
              <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                <Text span fw={600} inherit>
                  {change.actor || t('audit.nobody')}
                </Text>{' '}
                · {actionText(change.action, t)} <Target change={change} />
                {change.reason && (
                  <Text span c="dimmed" inherit>
                    {' '}
                    — <bdi>{reasonText(change, t)}</bdi>
                  </Text>
                )}
              </Text>
              <Text size="sm" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
                <RelativeTime at={change.at} />
              </Text>
            </Group>
          </li>
        ))}
      </Stack>
    </Section>
  );
}

function Target({ change }: { change: Change }) {
  if (!change.target || (change.target_kind === 'user' && change.target === change.actor)) return null;
  const page = pages[change.target_kind];
  if (!page || change.action.endsWith('.delete')) return <strong>{change.target}</strong>;
  return (
    <Anchor component={Link} to={page(change.target)} size="sm" underline="always">
      {change.target}
    </Anchor>
  );
}
