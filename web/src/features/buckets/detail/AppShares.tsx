import { Anchor, Progress, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { formatNumber } from '@/lib/format/numbers';
import { Section } from '@/components/Section';
import { shares, type Range, type UsageRow } from '@/features/buckets/live/series';

/** How much of what was asked for came from which app. */
export function AppShares({ rows, range }: { rows: readonly UsageRow[] | undefined; range: Range }) {
  const { t, i18n } = useTranslation();
  const found = shares(rows ?? []);
  const number = (value: number) => formatNumber(value, i18n.language);
  return (
    <Section title={t('shares.title')} description={t(`shares.over.${range}`)}>
      {rows && found.length === 0 ? (
        <Text c="dimmed" size="sm">
          {t('shares.none')}
        </Text>
      ) : (
        <Table verticalSpacing={6} horizontalSpacing={0} aria-busy={rows === undefined} style={{ fontVariantNumeric: 'tabular-nums' }}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('field.app')}</Table.Th>
              <Table.Th ta="end">{t('live.granted')}</Table.Th>
              <Table.Th ta="end">{t('live.limited')}</Table.Th>
              <Table.Th ta="end">{t('shares.share')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {found.map((one) => (
              <Table.Tr key={one.app}>
                <Table.Th scope="row" fw={400} style={{ overflowWrap: 'anywhere' }}>
                  <Anchor component={Link} to={`/apps/${one.app}`}>
                    {one.app}
                  </Anchor>
                  <Progress value={100 * one.share} size={4} mt={2} aria-hidden />
                </Table.Th>
                <Table.Td ta="end">{number(one.granted)}</Table.Td>
                <Table.Td ta="end">{number(one.limited + one.shadow_limited)}</Table.Td>
                <Table.Td ta="end">{formatPercent(one.share, i18n.language)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Section>
  );
}

function formatPercent(share: number, language: string): string {
  return new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 }).format(share);
}
