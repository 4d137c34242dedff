import { List, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { System } from '@/lib/api/types';
import { formatNumber } from '@/lib/format/numbers';
import { Section } from '@/components/Section';
import { StateBadge } from '@/components/StateBadge';

/** The database or Redis: what it is, whether it answers, and which of its settings are not safe. */
export function PartCard({ title, part, known }: { title: string; part: System['database']; known: boolean }) {
  const { t, i18n } = useTranslation();
  const tone = !part.ok ? 'bad' : part.warnings.length > 0 ? 'watch' : 'good';
  return (
    <Section title={title} actions={<StateBadge tone={known ? tone : 'watch'}>{t(known ? `system.${tone}` : 'system.unknown')}</StateBadge>}>
      <Text>
        {part.kind} {part.version}
      </Text>
      {known && part.took_us !== null && (
        <Text size="sm" c="dimmed">
          {t('system.took', { ms: formatNumber(part.took_us / 1000, i18n.language, 1) })}
        </Text>
      )}
      {part.message && (
        <Text c="var(--mantine-color-error)" mt="xs" role="status">
          {part.message}
        </Text>
      )}
      {part.warnings.length > 0 && (
        <List size="sm" mt="xs" spacing={4}>
          {part.warnings.map((warning) => (
            <List.Item key={warning}>{warning}</List.Item>
          ))}
        </List>
      )}
    </Section>
  );
}
