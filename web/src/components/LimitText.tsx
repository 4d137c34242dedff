import { useTranslation } from 'react-i18next';
import { limitWords, type Limit } from '@/lib/format/limit';

/** "100 per 1 s, burst 500" or "4 at a time, lease 30 s" in the reader's language; a number and its unit stay on one line. */
export function useLimitText(): (limit: Limit) => string {
  const { t, i18n } = useTranslation();
  return (limit) => {
    const words = limitWords(limit, i18n.language);
    const unit = t(`unit.${words.unit}`);
    return t('limit.words', { ...words, unit }).replace(`${words.count} ${unit}`, `${words.count}\u00a0${unit}`);
  };
}

export function LimitText({ limit }: { limit: Limit }) {
  return <span style={{ wordBreak: 'keep-all' }}>{useLimitText()(limit)}</span>; // Chinese breaks at commas, not inside its words
}
