import { useTranslation } from 'react-i18next';
import { limitWords } from '@/lib/format/limit';

interface Limit {
  rate: number;
  period_ms: number;
  max_permits: number;
}

/** "100 per 1 s, burst 500" in the reader's language. */
export function useLimitText(): (limit: Limit) => string {
  const { t, i18n } = useTranslation();
  return (limit) => {
    const words = limitWords(limit, i18n.language);
    return t('limit.words', { ...words, unit: t(`unit.${words.unit}`) });
  };
}

export function LimitText({ limit }: { limit: Limit }) {
  return <>{useLimitText()(limit)}</>;
}
