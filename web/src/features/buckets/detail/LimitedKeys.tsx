import { Code, Group, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Bucket } from '@/lib/api/types';
import { formatNumber } from '@/lib/format/numbers';
import { Copy } from '@/components/CodeBlock';
import { errorText } from '@/components/error-text';
import { Section } from '@/components/Section';
import { useLimitedKeys } from '@/features/buckets/api/usage';
import type { Range } from '@/components/chart/series';

const shown = 10;

/** The keys that were limited most. Keys are the callers' own, so they are shown as text in a box of their own. */
export function LimitedKeys({ bucket, range }: { bucket: Bucket; range: Range }) {
  const { t, i18n } = useTranslation();
  const minutes = range === 'live' ? 5 : 60; // Redis keeps an hour of them
  const keys = useLimitedKeys(bucket.name, minutes, true);
  const items = keys.data?.items ?? [];
  return (
    <Section title={t('keys.title')} description={t('keys.over', { minutes })}>
      {keys.error && !keys.data ? (
        <Text size="sm">{errorText(keys.error, t)}</Text>
      ) : keys.data && items.length === 0 ? (
        <Text c="dimmed" size="sm">
          {t('keys.none')}
        </Text>
      ) : (
        <Table verticalSpacing={4} horizontalSpacing={0} aria-busy={!keys.data} style={{ fontVariantNumeric: 'tabular-nums' }}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('keys.key')}</Table.Th>
              <Table.Th ta="end">{t('live.limited')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {items.slice(0, shown).map((one) => (
              <Table.Tr key={one.key}>
                <Table.Th scope="row" fw={400}>
                  <Group gap={4} wrap="nowrap">
                    <Code dir="auto" style={{ overflowWrap: 'anywhere' }} title={one.escaped ? t('keys.escaped') : undefined}>
                      {one.key}
                    </Code>
                    <Copy value={one.key} what={t('keys.key')} />
                  </Group>
                </Table.Th>
                <Table.Td ta="end" title={one.at_most_too_high > 0 ? t('keys.excess', { count: one.at_most_too_high }) : undefined}>
                  {one.at_most_too_high > 0 && '≤ '}
                  {formatNumber(one.limited, i18n.language)}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Section>
  );
}
