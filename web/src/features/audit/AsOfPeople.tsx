import { Badge, Group, List, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { AsOfPerson } from '@/lib/api/types';
import { Section } from '@/components/Section';

interface AsOfPeopleProps {
  title: string;
  description: string;
  /** null: the history that is kept does not tell. */
  people: AsOfPerson[] | null;
}

/** Those who had a right at an instant, each with all that gave it; whoever was disabled could not use it. */
export function AsOfPeople({ title, description, people }: AsOfPeopleProps) {
  const { t } = useTranslation();
  return (
    <Section title={title} description={description}>
      {people === null ? (
        <Text c="dimmed" size="sm">
          {t('asOf.notKept')}
        </Text>
      ) : people.length === 0 ? (
        <Text c="dimmed" size="sm">
          {t('common.none')}
        </Text>
      ) : (
        <List listStyleType="none" spacing={6} size="sm">
          {[...grouped(people, ({ user }) => user)].map(([user, grounds]) => (
            <List.Item key={user} styles={{ itemWrapper: { display: 'block' }, itemLabel: { display: 'block' } }}>
              <Person user={user} grounds={grounds} />
            </List.Item>
          ))}
        </List>
      )}
    </Section>
  );
}

/** Map.groupBy, which not every browser that is served has. */
function grouped<T, K>(items: readonly T[], by: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) groups.set(by(item), [...(groups.get(by(item)) ?? []), item]);
  return groups;
}

const appsShown = 3; // of one person and role

function Person({ user, grounds }: { user: string; grounds: AsOfPerson[] }) {
  const { t } = useTranslation();
  const roles = grounds.filter(({ app }) => !app);
  const ofApps = grouped(
    grounds.filter(({ app }) => app),
    ({ as }) => as,
  );
  return (
    <Group gap="xs" style={{ rowGap: 0 }}>
      <Text fw={600} inherit style={{ overflowWrap: 'anywhere' }}>
        {user}
      </Text>
      {roles.map(({ as }) => (
        <Badge key={as} variant="default" tt="none">
          {t(`asOfAs.${as}`)}
        </Badge>
      ))}
      {[...ofApps].map(([as, list]) => (
        <OfApps key={as} as={as} apps={list.map(({ app }) => app ?? '')} />
      ))}
      {grounds.some(({ disabled }) => disabled) && (
        <Text inherit c="dimmed">
          {t('asOf.wasDisabled')}
        </Text>
      )}
    </Group>
  );
}

/** A role in some apps; long names break rather than widen the page. */
function OfApps({ as, apps }: { as: AsOfPerson['as']; apps: string[] }) {
  const { t } = useTranslation();
  const more = apps.length - appsShown;
  return (
    <Text inherit c="dimmed" title={apps.join(', ')} style={{ overflowWrap: 'anywhere', minWidth: 0 }}>
      {t(`asOfAs.${as}`)} {apps.slice(0, appsShown).join(', ')}
      {more > 0 && ` ${t('common.more', { count: more })}`}
    </Text>
  );
}
