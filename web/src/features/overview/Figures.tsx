import { Anchor, Card, SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { formatNumber } from '@/lib/format/numbers';
import { StateBadge } from '@/components/StateBadge';
import type { OverviewBucket } from './api/overview';

interface FiguresProps {
  sync: { buckets: number; pending: number; mine: number };
  limited: OverviewBucket[];
  /** Redis was read, so that the figures of use are known. */
  known: boolean;
  user: string;
}

/** How many there are, and how Redis is about them. */
export function Figures({ sync, limited, known, user }: FiguresProps) {
  const { t, i18n } = useTranslation();
  const number = (value: number) => formatNumber(value, i18n.language);
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="lg">
      <Figure label={t('overview.buckets')} value={<To path="/buckets">{number(sync.buckets)}</To>} />
      <Figure label={t('overview.mine')} value={<To path={`/buckets?owner=${encodeURIComponent(user)}`}>{number(sync.mine)}</To>} />
      <Figure label={t('overview.limitedNow')} value={known ? `${number(limited.length)}${limited.length >= 10 ? '+' : ''}` : '–'} />
      <Figure
        label={t('overview.sync')}
        value={
          sync.pending === 0 ? (
            <StateBadge tone="good">{t('overview.allSynced')}</StateBadge>
          ) : (
            <Anchor component={Link} to="/buckets?sync=pending" inherit>
              <StateBadge tone="watch">{t('overview.pending', { count: sync.pending })}</StateBadge>
            </Anchor>
          )
        }
      />
    </SimpleGrid>
  );
}

function To({ path, children }: { path: string; children: ReactNode }) {
  return (
    <Anchor component={Link} to={path} inherit>
      {children}
    </Anchor>
  );
}

function Figure({ label, value }: { label: string; value: ReactNode }) {
  return (
    <Card withBorder padding="md">
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text fw={700} fz={26} component="div" lh={1.5} style={{ fontVariantNumeric: 'tabular-nums' }}>
        {value}
      </Text>
    </Card>
  );
}
