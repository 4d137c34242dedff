import { Anchor, Badge, Group, Progress, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { formatNumber, formatPercent } from '@/lib/format/numbers';
import { Section } from '@/components/Section';
import type { OverviewBucket } from './api/overview';

interface BucketRankProps {
  kind: 'limited' | 'near';
  buckets: OverviewBucket[];
  known: boolean;
}

/** Buckets with what makes them worth a look, one's own first. */
export function BucketRank({ kind, buckets, known }: BucketRankProps) {
  const { t } = useTranslation();
  return (
    <Section title={t(`overview.${kind}`)} description={t(`overview.${kind}Text`)}>
      {!known ? (
        <Text size="sm" role="status">
          {t('overview.unknown')}
        </Text>
      ) : buckets.length === 0 ? (
        <Text c="dimmed" size="sm">
          {t(`overview.${kind}None`)}
        </Text>
      ) : (
        <Stack component="ul" gap="sm" p={0} m={0} style={{ listStyle: 'none' }}>
          {buckets.map((bucket) => (
            <li key={bucket.name}>
              <Row kind={kind} bucket={bucket} />
            </li>
          ))}
        </Stack>
      )}
    </Section>
  );
}

function Row({ kind, bucket }: { kind: BucketRankProps['kind']; bucket: OverviewBucket }) {
  const { t, i18n } = useTranslation();
  const share = kind === 'limited' ? bucket.limited_share : bucket.load;
  const percent = formatPercent(share, i18n.language, share < 0.1 ? 1 : 0);
  const number = (value: number) => formatNumber(value, i18n.language);
  return (
    <>
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <Group gap="xs" style={{ minWidth: 0 }}>
          <Anchor component={Link} to={`/buckets/${bucket.name}`} fw={600} style={{ overflowWrap: 'anywhere' }}>
            {bucket.name}
          </Anchor>
          {bucket.mine && (
            <Badge variant="default" tt="none" size="sm">
              {t('overview.yours')}
            </Badge>
          )}
        </Group>
        <Text fw={600} style={{ fontVariantNumeric: 'tabular-nums', whiteSpace: 'nowrap' }}>
          {percent}
        </Text>
      </Group>
      <Progress value={Math.min(100, 100 * share)} size={5} my={4} color={kind === 'limited' ? 'orange' : 'water'} aria-hidden />
      <Text size="xs" c="dimmed">
        {t('overview.counts', {
          granted: number(bucket.granted),
          limited: number(bucket.limited + bucket.shadow_limited),
        })}
        {bucket.shadow_limited > 0 && ` ${t('overview.shadow')}`}
      </Text>
    </>
  );
}
