import { Alert, NumberInput, Stack, Text, TextInput } from '@mantine/core';
import { IconPlayerPlay } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Bucket, Tried } from '@/lib/api/types';
import { isKeyed, limitKind } from '@/lib/definition';
import { roughDuration } from '@/lib/format/limit';
import { formatNumber } from '@/lib/format/numbers';
import { useSimpleForm } from '@/lib/use-simple-form';
import { useUrlDialog } from '@/lib/url-dialog';
import { ActionButton } from '@/components/ActionButton';
import { errorText } from '@/components/error-text';
import { DialogForm, FormDialog } from '@/components/FormDialog';
import { Section } from '@/components/Section';
import { StateBadge } from '@/components/StateBadge';
import { useTry } from '@/features/buckets/api/try';
import { AppSelect } from './AppSelect';

/** Takes one real permit, after a confirmation that says so, and shows what came of it. */
export function TryAcquire({ bucket, apps, app }: { bucket: Bucket; apps: string[]; app: string }) {
  const { t } = useTranslation();
  const [opened, { open, close }] = useUrlDialog('try');
  const attempt = useTry(bucket.name);
  const denied = !bucket.may.edit ? t('denied.try', { owners: bucket.owners.join(', ') }) : apps.length > 0 ? undefined : t(bucket.apps.length === 0 ? 'use.noApps' : 'use.noneSeen');
  return (
    <Section title={t('try.title')} description={t('try.text')}>
      <Stack align="flex-start">
        <ActionButton variant="default" onClick={open} denied={denied} leftSection={<IconPlayerPlay size={16} aria-hidden />}>
          {t('try.open')}
        </ActionButton>
        <div role="status">{attempt.data && <Result tried={attempt.data} />}</div>
      </Stack>
      <FormDialog opened={opened && denied === undefined} onClose={close} title={t('try.title')}>
        <TryForm bucket={bucket} app={app} attempt={attempt} onClose={close} />
      </FormDialog>
    </Section>
  );
}

interface TryFormProps {
  bucket: Bucket;
  app: string;
  attempt: ReturnType<typeof useTry>;
  onClose: () => void;
}

interface TryValues {
  app: string;
  key: string;
  permits: number | string;
  reason: string;
}

function TryForm({ bucket, app, attempt, onClose }: TryFormProps) {
  const { t } = useTranslation();
  const keyed = isKeyed(bucket.partition);
  const slots = limitKind(bucket.algorithm) === 'slots';
  const { form, element, refusal, refused, onSubmit } = useSimpleForm({
    initialValues: { app, key: '', permits: 1 as number | string, reason: '' },
    validate: {
      key: (key) => (keyed && !key ? t('rule.required') : null),
      permits: (permits) => (Number.isInteger(permits) && Number(permits) >= 1 ? null : t('rule.integer', { low: 1, high: bucket.max_permits })),
    },
  });
  const body = (values: TryValues) => ({
    app: values.app,
    ...(keyed ? { key: values.key } : {}),
    permits: Number(values.permits),
    reason: values.reason.trim(),
  });
  const submit = onSubmit((values) =>
    attempt.mutate(
      body(values),
      { onSuccess: onClose, onError: (error) => refused(error, errorText(error, t)) },
    ),
  );
  return (
    <DialogForm ref={element} onSubmit={submit} onCancel={onClose} submitLabel={t('try.submit')} saving={attempt.isPending} refusal={refusal} curl={() => ({ method: 'POST', path: `/buckets/${bucket.name}/try`, body: body(form.getValues()) })}>
      <Alert color="orange">{t(slots ? 'try.warningSlots' : 'try.warning')}</Alert>
      <AppSelect bucket={bucket} {...form.getInputProps('app')} />
      {keyed && <TextInput label={t('keys.key')} required data-autofocus autoComplete="off" spellCheck={false} maxLength={512} {...form.getInputProps('key')} />}
      {!slots && <NumberInput label={t('try.permits')} min={1} allowDecimal={false} data-autofocus={!keyed || undefined} {...form.getInputProps('permits')} />}
      <TextInput label={t('try.reason')} maxLength={500} data-autofocus={(slots && !keyed) || undefined} {...form.getInputProps('reason')} />
    </DialogForm>
  );
}

function Result({ tried }: { tried: Tried }) {
  const { t, i18n } = useTranslation();
  const words = (ms: number) => {
    const { count, unit } = roughDuration(ms, i18n.language);
    return `${count} ${t(`unit.${unit}`)}`;
  };
  return (
    <Stack gap={4} align="flex-start">
      <StateBadge tone={tried.outcome === 'granted' ? 'good' : tried.allowed ? 'watch' : 'bad'}>{t(`outcome.${tried.outcome}`)}</StateBadge>
      <Text size="sm">
        {tried.outcome !== 'granted' && tried.allowed && `${t('try.letPass')} `}
        {t('try.remaining', { remaining: formatNumber(tried.remaining, i18n.language), limit: formatNumber(tried.limit, i18n.language) })}{' '}
        {tried.retry_after_ms > 0 && `${t('try.retry', { time: words(tried.retry_after_ms) })} `}
        {t('try.decidedBy', { revision: tried.revision, app: tried.app })}
      </Text>
    </Stack>
  );
}
