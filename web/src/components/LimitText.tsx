import { useTranslation } from 'react-i18next';
import { limitWords, type Limit } from '@/lib/format/limit';

/** "100 per 1 s, burst 500" or "4 at a time, lease 30 s" in the reader's language. */
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
