import { Progress, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { StreamBucket } from '@/lib/api/stream';
import type { LimitKind } from '@/lib/definition';
import { formatNumber } from '@/lib/format/numbers';

/** What the one state of a bucket has left; of a bucket with slots, how many are held. */
export function PermitsFigure({ context, now }: { context: LimitKind; now: StreamBucket | null }) {
  const { t } = useTranslation();
  const label = t('live.permits', { context });
  const value = context === 'slots' ? now?.held : now?.permits;
  return (
    <Stack gap={2}>
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      {now && typeof value === 'number' ? (
        <Meter label={label} value={value} max={now.max_permits} />
      ) : (
        <Text size="sm">{now ? t('live.permitsUnknown') : '–'}</Text>
      )}
      {now && typeof now.held === 'number' && now.permits === 0 && now.held < now.max_permits && <Text size="sm">{t('live.newcomersWait')}</Text>}
    </Stack>
  );
}

function Meter({ label, value, max }: { label: string; value: number; max: number }) {
  const { t, i18n } = useTranslation();
  return (
    <>
      <Text style={{ overflowWrap: 'anywhere' }}>
        <Text span fw={700} size="xl" data-testid="permits-now" style={{ fontVariantNumeric: 'tabular-nums' }}>
          {formatNumber(value, i18n.language)}
        </Text>{' '}
        <Text span size="sm" c="dimmed">
          {t('live.ofMax', { max: formatNumber(max, i18n.language) })}
        </Text>
      </Text>
      <Progress value={max > 0 ? (100 * value) / max : 0} size="sm" aria-label={label} />
    </>
  );
}
