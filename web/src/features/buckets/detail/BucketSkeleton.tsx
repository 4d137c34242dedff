import { Skeleton, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';

/** The shape of a bucket's page while it is loading. */
export function BucketSkeleton() {
  const { t } = useTranslation();
  return (
    <Stack role="status" aria-label={t('common.loading')}>
      <Skeleton height={28} width="40%" />
      <Skeleton height={16} width="25%" />
      <Skeleton height={36} mt="md" />
      <Skeleton height={320} mt="md" />
    </Stack>
  );
}
