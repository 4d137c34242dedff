import { useTranslation } from 'react-i18next';
import { fillTime, roughDuration, type Limit } from '@/lib/format/limit';
import { useLimitText } from '@/components/LimitText';

/** A limit in words, and what follows from it. */
export function LimitPreview({ limit }: { limit: Limit }) {
  const { t, i18n } = useTranslation();
  const limitText = useLimitText();
  const fill = roughDuration(fillTime(limit), i18n.language); // without a rate it is endless, and the words leave it out
  return <>{t('limit.preview', { context: limit.algorithm, words: limitText(limit), fill: fill.count, unit: t(`unit.${fill.unit}`) })}</>;
}
