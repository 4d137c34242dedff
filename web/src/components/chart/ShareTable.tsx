import { Anchor, Table, Text } from '@mantine/core';
import { createContext, memo, use } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { formatNumber, formatPercent } from '@/lib/format/numbers';
import { Td, Th, Tr } from '@/components/cells';
import { Section } from '@/components/Section';
import classes from './ShareTable.module.css';
import type { UsageTotals } from './series';

export interface ShareRow extends UsageTotals {
  name: string;
  /** The page of what the row is about; without it the row stands for several that have no page. */
  to: string | undefined;
  /** Its part of all permits asked for, 0..1. */
  share: number;
  /** Permits a second now; null where that is not known. */
  now?: UsageTotals | null;
}

interface ShareTableProps {
  title: string;
  description: string;
  /** What the rows are. */
  header: string;
  none: string;
  /** Shows what is granted and limited now, per second, in place of the sums. */
  live?: boolean;
  /** undefined while loading. */
  rows: readonly ShareRow[] | undefined;
}

const Rows = createContext<readonly ShareRow[] | undefined>(undefined);

/** How much of what was asked for fell on each. */
export function ShareTable({ rows, ...frame }: ShareTableProps) {
  return (
    <Rows value={rows}>
      <Frame {...frame} known={rows !== undefined} empty={rows?.length === 0} />
    </Rows>
  );
}

interface FrameProps extends Omit<ShareTableProps, 'rows'> {
  known: boolean;
  empty: boolean;
}

/** What stays when the shares change. */
const Frame = memo(function Frame({ title, description, header, none, live = false, known, empty }: FrameProps) {
  const { t } = useTranslation();
  return (
    <Section title={title} description={description}>
      {empty ? (
        <Text c="dimmed" size="sm">
          {none}
        </Text>
      ) : (
        <Table verticalSpacing={6} horizontalSpacing={0} aria-busy={!known} style={{ fontVariantNumeric: 'tabular-nums' }}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{header}</Table.Th>
              <Table.Th className={classes.figure}>{t(live ? 'shares.grantedNow' : 'live.granted')}</Table.Th>
              <Table.Th className={classes.figure}>{t(live ? 'shares.limitedNow' : 'live.limited')}</Table.Th>
              <Table.Th className={classes.figure}>{t('shares.share')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            <Shares live={live} />
          </Table.Tbody>
        </Table>
      )}
    </Section>
  );
});

function Shares({ live }: { live: boolean }) {
  const { language } = useTranslation().i18n;
  return use(Rows)?.map((row) => <ShareOf key={row.name} row={row} live={live} language={language} />);
}

function ShareOf({ row, live, language }: { row: ShareRow; live: boolean; language: string }) {
  const used = live ? row.now : row;
  const number = (value: number) => formatNumber(value, language, live && value < 10 ? 1 : 0);
  return (
    <Tr>
      <Th scope="row" className={classes.name}>
        <Name name={row.name} to={row.to} />
        <div className={classes.bar} aria-hidden>
          <div className={classes.part} style={{ width: `${(100 * row.share).toFixed(1)}%` }} />
        </div>
      </Th>
      <Td className={classes.figure}>{used ? number(used.granted) : '–'}</Td>
      <Td className={classes.figure}>{used ? number(used.limited + used.shadow_limited) : '–'}</Td>
      <Td className={classes.figure}>{formatPercent(row.share, language, 1)}</Td>
    </Tr>
  );
}

const Name = memo(function Name({ name, to }: Pick<ShareRow, 'name' | 'to'>) {
  if (to === undefined) return name;
  return (
    <Anchor component={Link} to={to}>
      {name}
    </Anchor>
  );
});
