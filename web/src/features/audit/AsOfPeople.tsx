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

/** Those who had a right at an instant; whoever was disabled could not use it. */
export function AsOfPeople({ title, description, people }: AsOfPeopleProps) {
  const { t } = useTranslation();
  return (
    <Section title={title} description={description}>
      {people === null ? (
        <Text c="dimmed">{t('asOf.notKept')}</Text>
      ) : people.length === 0 ? (
        <Text c="dimmed">{t('common.none')}</Text>
      ) : (
        <List listStyleType="none" spacing={4}>
          {people.map(({ user, as, app, disabled }) => (
            <List.Item key={`${user} ${as} ${app ?? ''}`}>
              <Group gap="xs">
                <Text style={{ overflowWrap: 'anywhere' }}>{user}</Text>
                <Badge variant="default" tt="none">
                  {t(`asOfAs.${as}`)} {app}
                </Badge>
                {disabled && (
                  <Text size="sm" c="dimmed">
                    {t('asOf.wasDisabled')}
                  </Text>
                )}
              </Group>
            </List.Item>
          ))}
        </List>
      )}
    </Section>
  );
}
