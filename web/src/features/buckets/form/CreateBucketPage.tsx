import { Alert, Button, Group } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate, useSearchParams } from 'react-router';
import { can, useMe } from '@/lib/api/me';
import { hasCode } from '@/lib/api/problem';
import type { ApiCall } from '@/lib/curl';
import { useDraft } from '@/lib/drafts';
import { CurlButton } from '@/components/CurlButton';
import { errorText } from '@/components/error-text';
import { showDone, showPending } from '@/components/notify';
import { PageHeader } from '@/components/PageHeader';
import { ErrorState, ForbiddenState } from '@/components/States';
import { useCreateBucket } from '@/features/buckets/api/create';
import { useBucket } from '@/features/buckets/api/one';
import { BucketSkeleton } from '@/features/buckets/detail/BucketSkeleton';
import { BucketFields } from './BucketFields';
import { bucketFormId, useBucketForm } from './use-bucket-form';
import { newValues, toDefinition, toValues, type BucketValues } from './values';

const refreshEvery = 60_000; // ms

/** Makes a bucket: from scratch, or as a copy of the one that the URL names. */
export function CreateBucketPage() {
  const { t } = useTranslation();
  const me = useMe();
  const [params] = useSearchParams();
  const from = params.get('from');
  if (!can(me, 'bucket.create')) return <ForbiddenState text={t('denied.createBucket')} />;
  return from ? <CloneBucket key={from} from={from} /> : <CreateBucket initial={newValues(me.name)} />;
}

function CloneBucket({ from }: { from: string }) {
  const bucket = useBucket(from, () => refreshEvery);
  if (bucket.data) return <CreateBucket initial={{ ...toValues(bucket.data), name: '' }} from={from} />;
  if (bucket.error) return <ErrorState error={bucket.error} onRetry={() => void bucket.refetch()} page />;
  return <BucketSkeleton />;
}

function CreateBucket({ initial, from }: { initial: BucketValues; from?: string }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const create = useCreateBucket();
  const { form, element, placeServerErrors, focusInvalid } = useBucketForm({ initial, creating: true, draft: useDraft<BucketValues>(bucketFormId) });
  const [refusal, setRefusal] = useState<string[]>([]);

  function submit(values: BucketValues) {
    setRefusal([]);
    create.mutate(
      bodyOf(values),
      {
        onSuccess: (bucket) => {
          form.resetDirty(); // nothing is left to lose
          if (bucket.sync.state === 'synced') showDone(t('saved.created', { name: bucket.name }), t);
          else showPending(t('saved.createdPending', { name: bucket.name }), t);
          void navigate(`/buckets/${bucket.name}`);
        },
        onError: (error) => {
          if (hasCode(error, 'taken')) {
            form.setFieldError('name', t('rule.taken'));
            focusInvalid();
            return;
          }
          setRefusal(placeServerErrors(error) ?? [errorText(error, t)]);
        },
      },
    );
  }

  return (
    <>
      <PageHeader
        title={from ? t('bucket.cloneOf', { name: from }) : t('buckets.create')}
        up={from ? { to: `/buckets/${from}`, label: from } : { to: '/buckets', label: t('buckets.title') }}
      />
      <form ref={element} noValidate onSubmit={form.onSubmit(submit, focusInvalid)}>
        <BucketFields form={form} creating />
        {refusal.length > 0 && (
          <Alert color="red" mt="md" title={t('form.refused')} role="alert">
            {refusal.join(' ')}
          </Alert>
        )}
        <Group mt="xl" justify="flex-end">
          <CurlButton call={() => callOf(form.getValues())} />
          <Button variant="default" component={Link} to={from ? `/buckets/${from}` : '/buckets'}>
            {t('common.cancel')}
          </Button>
          <Button type="submit" loading={create.isPending}>
            {t('buckets.create')}
          </Button>
        </Group>
      </form>
    </>
  );
}

function bodyOf(values: BucketValues) {
  return { ...toDefinition(values), name: values.name, reason: values.reason.trim() };
}

function callOf(values: BucketValues): ApiCall {
  return { method: 'POST', path: '/buckets', body: bodyOf(values) };
}
