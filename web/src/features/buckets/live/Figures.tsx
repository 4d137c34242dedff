import { SimpleGrid, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Bucket } from '@/lib/api/types';
import { limitKind } from '@/lib/definition';
import { formatNumber } from '@/lib/format/numbers';
import { Figure } from '@/components/chart/Figure';
import type { Sample } from '@/components/chart/series';
import { LimitText } from '@/components/LimitText';
import { useShown } from './chart-context';
import { PermitsFigure } from './PermitsFigure';

interface FiguresProps {
  bucket: Bucket;
  /** What is refused is let pass. */
  passing: boolean;
}

/** What happens this second. */
export function Figures({ bucket, passing }: FiguresProps) {
  const { t } = useTranslation();
  return (
    <SimpleGrid cols={{ base: 2, sm: 4 }} mb="md">
      <Figure label={t('live.granted')} unit={t('live.perSecond')} value={<Now of={granted} />} testId="granted-per-second" />
      <Figure
        label={passing ? t('live.wouldLimit') : t('live.limited')}
        unit={t('live.perSecond')}
        value={<Now of={limited} />}
        testId="limited-per-second"
      />
      <PermitsFigure context={limitKind(bucket.algorithm)} />
      <Stack gap={2}>
        <Text size="sm" c="dimmed">
          {t('field.limit')}
        </Text>
        <Text fw={600}>
          <LimitText limit={bucket} />
        </Text>
      </Stack>
    </SimpleGrid>
  );
}

const granted = (sample: Sample) => sample.granted;
const limited = (sample: Sample) => sample.limited;

/** A rate of the newest sample. */
function Now({ of }: { of: (sample: Sample) => number }) {
  const { i18n } = useTranslation();
  const { last } = useShown('live');
  if (!last) return '–';
  const value = of(last);
  return formatNumber(value, i18n.language, value < 10 ? 1 : 0);
}
