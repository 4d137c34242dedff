import { Anchor, Group, Skeleton, Stack, Text } from '@mantine/core';
import { IconPencil, IconTrash } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate, useParams } from 'react-router';
import { hasCode } from '@/lib/api/problem';
import type { App } from '@/lib/api/types';
import { deletion } from '@/lib/curl';
import { useUrlDialog } from '@/lib/url-dialog';
import { useEver } from '@/lib/use-ever';
import { ActionButton } from '@/components/ActionButton';
import { ChangedBanner } from '@/components/ChangedBanner';
import { DeleteByName } from '@/components/DeleteByName';
import { errorText } from '@/components/error-text';
import { showDone } from '@/components/notify';
import { PageHeader } from '@/components/PageHeader';
import { RelativeTime } from '@/components/RelativeTime';
import { Section } from '@/components/Section';
import { ErrorState } from '@/components/States';
import { Written } from '@/components/Written';
import { useApp, useDeleteApp } from './api/one';
import { AppUsage } from './AppUsage';

// Below the chart, and with the lists and forms that it needs too heavy to wait for.
const Members = lazy(async () => ({ default: (await import('./Members')).Members }));
const EditAppDialog = lazy(async () => ({ default: (await import('./EditAppDialog')).EditAppDialog }));

/** One app: its members and its buckets. */
export function AppPage() {
  const { t } = useTranslation();
  const { name = '' } = useParams();
  const app = useApp(name);
  if (app.data) return <AppView key={name} app={app.data} />;
  if (app.error) return <ErrorState error={app.error} onRetry={() => void app.refetch()} page />;
  return (
    <Stack role="status" aria-label={t('common.loading')}>
      <Skeleton height={28} width="40%" />
      <Skeleton height={220} />
    </Stack>
  );
}

function AppView({ app }: { app: App }) {
  const { t } = useTranslation();
  const [editing, edit] = useUrlDialog('edit');
  const asked = useEver(editing);
  const denied = app.may.edit ? undefined : t('denied.editApp');
  return (
    <>
      <ChangedBanner record={app} />
      <PageHeader
        title={app.name}
        copy
        up={{ to: '/apps', label: t('apps.title') }}
        description={app.description && <Written>{app.description}</Written>}
        actions={
          <ActionButton onClick={edit.open} leftSection={<IconPencil size={16} aria-hidden />} denied={denied}>
            {t('apps.edit')}
          </ActionButton>
        }
      />
      <Stack gap="lg">
        <Group gap="lg">
          <Anchor component={Link} to={`/buckets?app=${encodeURIComponent(app.name)}`} size="sm">
            {t('apps.itsBuckets')}
          </Anchor>
          <Text size="sm" c="dimmed">
            {t('bucket.lastChange')}: {app.updated_by}, <RelativeTime at={app.updated_at} />
          </Text>
        </Group>
        <AppUsage name={app.name} />
        <Suspense fallback={<Skeleton height={160} />}>
          <Members app={app} denied={denied} />
        </Suspense>
        <DeleteApp app={app} />
      </Stack>
      <Suspense fallback={null}>{asked && <EditAppDialog app={app} opened={editing && app.may.edit} onClose={edit.close} />}</Suspense>
    </>
  );
}

function DeleteApp({ app }: { app: App }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [opened, { open, close }] = useUrlDialog('delete');
  const remove = useDeleteApp(app.name);
  const error = remove.error && (hasCode(remove.error, 'stale') ? t('delete.stale') : errorText(remove.error, t));

  function submit() {
    remove.mutate(app.revision, {
      onSuccess: () => {
        showDone(t('saved.deleted', { name: app.name }), t);
        void navigate('/apps');
      },
    });
  }

  return (
    <Section title={t('apps.delete')} description={t('apps.deleteText')}>
      <ActionButton
        color="red.8"
        w="fit-content"
        leftSection={<IconTrash size={16} aria-hidden />}
        onClick={open}
        denied={app.may.delete ? undefined : t('denied.editApp')}
      >
        {t('apps.delete')}
      </ActionButton>
      <DeleteByName
        opened={opened && app.may.delete}
        onClose={close}
        name={app.name}
        title={t('apps.delete')}
        confirm={t('apps.remove')}
        onDelete={submit}
        deleting={remove.isPending}
        error={error ?? undefined}
        curl={(reason) => deletion(`/apps/${app.name}`, reason, { base: app.revision })}
      >
        <Text>{t('apps.deleteText')}</Text>
      </DeleteByName>
    </Section>
  );
}
