import { useTranslation } from 'react-i18next';
import type { Range } from '@/components/chart/series';
import { ShareTable } from '@/components/chart/ShareTable';
import type { StreamAppSample } from '@/lib/api/stream';
import { bucketShares, type AppUsageShares } from './bucket-shares';

interface BucketSharesProps {
  usage: AppUsageShares | undefined;
  now: StreamAppSample | null;
  range: Range;
}

/** How much of what the app asked for fell on which bucket, and in the live range how much does so now. */
export function BucketShares({ usage, now, range }: BucketSharesProps) {
  const { t } = useTranslation();
  return (
    <ShareTable
      title={t('bucketShares.title')}
      description={t(`bucketShares.over.${range}`)}
      header={t('bucketShares.bucket')}
      none={t('bucketShares.none')}
      live={range === 'live'}
      rows={
        usage &&
        bucketShares(usage, now).map(({ name, buckets, deleted, ...share }) => ({
          ...share,
          name: name === null ? t('bucketShares.others', { count: buckets }) : deleted ? t('bucketShares.deleted', { name }) : name,
          to: name === null || deleted ? undefined : `/buckets/${encodeURIComponent(name)}`,
        }))
      }
    />
  );
}
