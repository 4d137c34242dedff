import { List, Text } from '@mantine/core';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import type { System } from '@/lib/api/types';
import { formatNumber } from '@/lib/format/numbers';
import { Section } from '@/components/Section';
import { StateBadge } from '@/components/StateBadge';

interface PartCardProps {
  which: 'database' | 'redis';
  part: System['database'];
  known: boolean;
}

/** The database or Redis: what it is, whether it answers, and which of its settings are not safe. */
export function PartCard({ which, part, known }: PartCardProps) {
  const { t, i18n } = useTranslation();
  const tone = !part.ok ? 'bad' : part.warnings.length > 0 ? 'watch' : 'good';
  return (
    <Section title={t(`system.${which}`)} actions={<StateBadge tone={known ? tone : 'watch'}>{t(known ? `system.${tone}` : 'system.unknown')}</StateBadge>}>
      <Text>
        {part.kind} {part.version}
      </Text>
      {known && part.took_us !== null && (
        <Text size="sm" c="dimmed">
          {t('system.took', { ms: formatNumber(part.took_us / 1000, i18n.language, 1) })}
        </Text>
      )}
      {!part.ok && (
        <Text c="var(--mantine-color-error)" mt="xs" role="status">
          {t(`system.away.${which}`)}
        </Text>
      )}
      {part.warnings.length > 0 && (
        <List size="sm" mt="xs" spacing={4}>
          {part.warnings.map((warning) => (
            <List.Item key={warning}>{warningText(warning, t)}</List.Item>
          ))}
        </List>
      )}
    </Section>
  );
}

/** A warning in the reader's language; the server's own words where this console does not know it. */
function warningText(warning: string, t: TFunction): string {
  const policy = /maxmemory-policy (\S+)/.exec(warning)?.[1];
  return policy ? t('system.evicts', { policy }) : warning;
}
