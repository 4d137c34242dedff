import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { fillTime, joinPeriod, roughDuration } from '@/lib/format/limit';
import { useLimitText } from '@/features/buckets/LimitText';
import type { BucketValues } from './values';

/** The limit being typed, in words: what it comes to. */
export function LimitPreview({ values }: { values: BucketValues }) {
  const { t, i18n } = useTranslation();
  const limitText = useLimitText();
  const limit = {
    rate: Number(values.rate),
    period_ms: joinPeriod(Number(values.period), values.periodUnit),
    max_permits: Number(values.max_permits),
  };
  const complete = Object.values(limit).every((n) => Number.isInteger(n) && n > 0);
  const fill = complete ? roughDuration(fillTime(limit), i18n.language) : null;
  return (
    <Text role="status" size="sm" c={fill ? undefined : 'dimmed'}>
      {fill
        ? t('limit.preview', { words: limitText(limit), fill: fill.count, unit: t(`unit.${fill.unit}`) })
        : t('limit.previewEmpty')}
    </Text>
  );
}
