import { Anchor, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { can, useMe } from '@/lib/api/me';
import type { Change } from '@/lib/api/types';
import { ChangeSentence } from '@/components/ChangeSentence';
import { reasonText } from '@/components/reason-text';
import { RelativeTime } from '@/components/RelativeTime';
import { Section } from '@/components/Section';

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
            <Group justify="space-between" gap="sm" align="baseline" style={{ rowGap: 0 }}>
              <Text size="sm" flex="1 1 16rem" style={{ overflowWrap: 'anywhere' }}>
                <ChangeSentence change={change} bucketTab="/history" />
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
