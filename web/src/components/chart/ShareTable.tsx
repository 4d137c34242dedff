import { Anchor, Progress, Table, Text } from '@mantine/core';
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { formatNumber, formatPercent } from '@/lib/format/numbers';
import type { UsageTotals } from './series';

export interface ShareRow extends UsageTotals {
  name: string;
  /** The page of what the row is about; without it the row stands for several that have no page. */
  to: string | undefined;
  /** Its part of all permits asked for, 0..1. */
  share: number;
}

interface ShareTableProps {
  /** What the rows are. */
  header: string;
  none: string;
  /** undefined while loading. */
  rows: readonly ShareRow[] | undefined;
}

/** How much of what was asked for fell on each. It is drawn again only when that changed. */
export const ShareTable = memo(function ShareTable({ header, none, rows }: ShareTableProps) {
  if (rows?.length === 0) {
    return (
      <Text c="dimmed" size="sm">
        {none}
      </Text>
    );
  }
  return (
    <Table verticalSpacing={6} horizontalSpacing={0} aria-busy={rows === undefined} style={{ fontVariantNumeric: 'tabular-nums' }}>
      <Head first={header} />
      <Table.Tbody>{rows?.map((row) => <ShareOf key={row.name} {...row} />)}</Table.Tbody>
    </Table>
  );
});

const Head = memo(function Head({ first }: { first: string }) {
  const { t } = useTranslation();
  return (
    <Table.Thead>
      <Table.Tr>
        <Table.Th>{first}</Table.Th>
        <Table.Th ta="end">{t('live.granted')}</Table.Th>
        <Table.Th ta="end">{t('live.limited')}</Table.Th>
        <Table.Th ta="end">{t('shares.share')}</Table.Th>
      </Table.Tr>
    </Table.Thead>
  );
});

const ShareOf = memo(function ShareOf({ name, to, granted, limited, shadow_limited, share }: ShareRow) {
  const { i18n } = useTranslation();
  const number = (value: number) => formatNumber(value, i18n.language);
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={400} style={{ overflowWrap: 'anywhere' }}>
        <Name name={name} to={to} />
        <Progress value={100 * share} size={4} mt={2} aria-hidden />
      </Table.Th>
      <Table.Td ta="end">{number(granted)}</Table.Td>
      <Table.Td ta="end">{number(limited + shadow_limited)}</Table.Td>
      <Table.Td ta="end">{formatPercent(share, i18n.language, 1)}</Table.Td>
    </Table.Tr>
  );
});

const Name = memo(function Name({ name, to }: Pick<ShareRow, 'name' | 'to'>) {
  if (to === undefined) return name;
  return (
    <Anchor component={Link} to={to}>
      {name}
    </Anchor>
  );
});
