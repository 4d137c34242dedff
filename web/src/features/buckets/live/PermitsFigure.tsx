import { Progress, Stack, Text } from '@mantine/core';
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import type { LimitKind } from '@/lib/definition';
import { formatNumber } from '@/lib/format/numbers';
import { useShown } from './chart-context';

/** What the one state of a bucket has left; of a bucket with slots, how many are held. */
export function PermitsFigure({ context }: { context: LimitKind }) {
  const { t } = useTranslation();
  const label = t('live.permits', { context });
  return (
    <Stack gap={2}>
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <PermitsNow context={context} label={label} />
    </Stack>
  );
}

function PermitsNow({ context, label }: { context: LimitKind; label: string }) {
  const { t } = useTranslation();
  const { now } = useShown('live');
  const value = context === 'slots' ? now?.held : now?.permits;
  return (
    <>
      {now && typeof value === 'number' ? (
        <Meter label={label} value={value} max={now.max_permits} />
      ) : (
        <Text size="sm">{now ? t('live.permitsUnknown') : '–'}</Text>
      )}
      {now && typeof now.held === 'number' && now.permits === 0 && now.held < now.max_permits && <Text size="sm">{t('live.newcomersWait')}</Text>}
    </>
  );
}

const Meter = memo(function Meter({ label, value, max }: { label: string; value: number; max: number }) {
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
      {/* It changes every second: moving there would lay out the page anew in each frame on the way. */}
      <Progress value={max > 0 ? (100 * value) / max : 0} size="sm" aria-label={label} transitionDuration={0} />
    </>
  );
});
