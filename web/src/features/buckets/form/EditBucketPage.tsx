import { useTranslation } from 'react-i18next';
import { useParams } from 'react-router';
import { usePageTitle } from '@/lib/page-title';
import { ErrorState, ForbiddenState } from '@/components/States';
import { useBucket } from '@/features/buckets/api/one';
import { BucketSkeleton } from '@/features/buckets/detail/BucketSkeleton';
import { BucketEditor } from './BucketEditor';

const watchEvery = 5_000; // ms; so that an edit made elsewhere is seen before the save

/** Loads a bucket for editing. */
export function EditBucketPage() {
  const { t } = useTranslation();
  const { name = '' } = useParams();
  usePageTitle(t('edit.title', { name }));
  const bucket = useBucket(name, () => watchEvery);
  if (bucket.data?.may.edit === false) return <ForbiddenState text={t('denied.edit', { owners: bucket.data.owners.join(', ') })} />;
  if (bucket.data) return <BucketEditor key={name} latest={bucket.data} />;
  if (bucket.error) return <ErrorState error={bucket.error} onRetry={() => void bucket.refetch()} page />;
  return <BucketSkeleton />;
}
