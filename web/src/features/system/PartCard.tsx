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
        {nameOf(part.kind, t)} {part.version}
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

const names: Readonly<Record<string, string>> = { mysql: 'MySQL', mariadb: 'MariaDB', sqlite: 'SQLite', redis: 'Redis', valkey: 'Valkey' };

function nameOf(kind: string, t: TFunction): string {
  return kind === 'embedded' ? t('system.embedded') : (names[kind] ?? kind);
}

const eviction = /^Redis has maxmemory-policy (\S+) /;

/** A warning of the server in the reader's language; one that this console does not know stays as it is. */
function warningText(warning: string, t: TFunction): string {
  const [, policy] = eviction.exec(warning) ?? [];
  return policy ? t('system.evicts', { policy }) : warning;
}
