import { Group, Text } from '@mantine/core';
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Bucket } from '@/lib/api/types';
import { limitKind } from '@/lib/definition';
import { formatNumber } from '@/lib/format/numbers';
import { useScheme } from '@/lib/scheme';
import { palette } from '@/components/chart/chart-options';
import { LineEntry } from '@/components/chart/LineEntry';

interface LegendProps {
  bucket: Bucket;
  limit: number | null;
  /** What is refused is let pass. */
  passing: boolean;
}

/** Names the lines of the chart by stroke as well as by colour. */
export const Legend = memo(function Legend({ bucket, limit, passing }: LegendProps) {
  const { t, i18n } = useTranslation();
  const context = limitKind(bucket.algorithm);
  const colors = palette[useScheme()];
  return (
    <Group gap="lg" mt="xs">
      <LineEntry color={colors.granted} dash="" label={t('live.granted')} />
      <LineEntry color={colors.limited} dash="2 3" label={passing ? t('live.wouldLimit') : t('live.limited')} />
      {limit === null ? (
        <Text size="sm" c="dimmed">
          {t('live.noLine', { context })}
        </Text>
      ) : (
        <LineEntry color={colors.limit} dash="6 4" label={t('live.limitLine', { context, rate: formatNumber(limit, i18n.language, 2) })} />
      )}
    </Group>
  );
});
