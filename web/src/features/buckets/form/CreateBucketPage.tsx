import { Alert, Button, Group } from '@mantine/core';
import { useCallback, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate } from 'react-router';
import { useMe } from '@/lib/api/me';
import { hasCode } from '@/lib/api/problem';
import { errorText } from '@/components/error-text';
import { showDone, showPending } from '@/components/notify';
import { PageHeader } from '@/components/PageHeader';
import { UnsavedGuard } from '@/components/UnsavedGuard';
import { useCreateBucket } from '@/features/buckets/api/create';
import { BucketFields } from './BucketFields';
import { useBucketForm } from './use-bucket-form';
import { newValues, toDefinition, type BucketValues } from './values';

/** Makes a bucket. */
export function CreateBucketPage() {
  const { t } = useTranslation();
  const me = useMe();
  const navigate = useNavigate();
  const create = useCreateBucket();
  const { form, element, placeServerErrors, focusInvalid } = useBucketForm(newValues(me.name), true);
  const [refusal, setRefusal] = useState<string[]>([]);
  const dirty = useCallback(() => form.isDirty(), [form]);

  function submit(values: BucketValues) {
    setRefusal([]);
    create.mutate(
      { ...toDefinition(values), name: values.name, reason: values.reason.trim() },
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
      <PageHeader title={t('buckets.create')} up={{ to: '/buckets', label: t('buckets.title') }} />
      <form ref={element} noValidate onSubmit={form.onSubmit(submit, focusInvalid)}>
        <BucketFields form={form} creating />
        {refusal.length > 0 && (
          <Alert color="red" mt="md" title={t('form.refused')} role="alert">
            {refusal.join(' ')}
          </Alert>
        )}
        <Group mt="xl" justify="flex-end">
          <Button variant="default" component={Link} to="/buckets">
            {t('common.cancel')}
          </Button>
          <Button type="submit" loading={create.isPending}>
            {t('buckets.create')}
          </Button>
        </Group>
      </form>
      <UnsavedGuard dirty={dirty} />
    </>
  );
}
