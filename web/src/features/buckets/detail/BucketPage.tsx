import { Box, Skeleton, Tabs } from '@mantine/core';
import { IconCopyPlus, IconPencil } from '@tabler/icons-react';
import { lazy, Suspense, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate, useParams } from 'react-router';
import { can, useMe } from '@/lib/api/me';
import type { Bucket } from '@/lib/api/types';
import { ActionButton } from '@/components/ActionButton';
import { ChangedBanner } from '@/components/ChangedBanner';
import { PageHeader } from '@/components/PageHeader';
import { ErrorState, NotFoundState } from '@/components/States';
import { useBucket } from '@/features/buckets/api/one';
import { ModeBadge, SyncBadge } from '@/features/buckets/Badges';
import { LimitText } from '@/components/LimitText';
import { BucketSkeleton } from './BucketSkeleton';
import { OverviewTab } from './OverviewTab';

// The first tab is what most people come for; the others are loaded when they are opened.
const tabs = {
  overview: OverviewTab,
  definition: lazy(async () => ({ default: (await import('./DefinitionTab')).DefinitionTab })),
  history: lazy(async () => ({ default: (await import('./HistoryTab')).HistoryTab })),
  use: lazy(async () => ({ default: (await import('./UseTab')).UseTab })),
  settings: lazy(async () => ({ default: (await import('./SettingsTab')).SettingsTab })),
} as const;

type TabName = keyof typeof tabs;
const tabNames = Object.keys(tabs) as TabName[];

const refreshEvery = 10_000; // ms
const refreshPending = 1_500; // ms, while Redis does not have the newest revision

/** One bucket in tabs; the open tab is in the URL. */
export function BucketPage() {
  const { name = '', tab = 'overview' } = useParams();
  const bucket = useBucket(name, (latest) => (latest?.sync.state === 'pending' ? refreshPending : refreshEvery));
  if (!(tab in tabs)) return <NotFoundState />;
  if (bucket.data) return <BucketTabs key={name} bucket={bucket.data} tab={tab as TabName} />;
  if (bucket.error) return <ErrorState error={bucket.error} onRetry={() => void bucket.refetch()} page />;
  return <BucketSkeleton />;
}

function BucketTabs({ bucket, tab }: { bucket: Bucket; tab: TabName }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const path = (name: TabName) => `/buckets/${bucket.name}${name === 'overview' ? '' : `/${name}`}`;
  const Content = tabs[tab];
  const strip = useRef<HTMLDivElement>(null);
  // On a narrow screen the tabs scroll, and the open one must be seen.
  useEffect(() => {
    // Braces, for newer browsers return a promise, which React would take for a cleanup.
    strip.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [tab]);
  return (
    <>
      <ChangedBanner record={bucket} history={path('history')} />
      <PageHeader
        title={bucket.name}
        copy
        up={{ to: '/buckets', label: t('buckets.title') }}
        badges={
          <>
            <ModeBadge mode={bucket.mode} />
            <SyncBadge sync={bucket.sync} />
          </>
        }
        description={
          <>
            <LimitText limit={bucket} /> · {t('bucket.revision', { revision: bucket.revision })}
          </>
        }
        actions={
          <>
            <CloneButton bucket={bucket} />
            <EditButton bucket={bucket} />
          </>
        }
      />
      <Tabs value={tab} onChange={(chosen) => void navigate(path(chosen as TabName))} keepMounted={false} activateTabWithKeyboard={false}>
        <Box ref={strip} style={{ overflowX: 'auto' }} mb="lg">
          <Tabs.List style={{ flexWrap: 'nowrap', minWidth: 'max-content' }} aria-label={bucket.name}>
            {tabNames.map((name) => (
              <Tabs.Tab key={name} value={name}>
                {t(`tab.${name}`)}
              </Tabs.Tab>
            ))}
          </Tabs.List>
        </Box>
        <Tabs.Panel value={tab}>
          <Suspense fallback={<Skeleton height={240} />}>
            <Content bucket={bucket} />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

/** Leads to the edit form, or says who may edit. */
export function EditButton({ bucket }: { bucket: Bucket }) {
  const { t } = useTranslation();
  return (
    <ActionButton
      to={`/buckets/${bucket.name}/edit`}
      leftSection={<IconPencil size={16} aria-hidden />}
      denied={bucket.may.edit ? undefined : t('denied.edit', { owners: bucket.owners.join(', ') })}
    >
      {t('bucket.edit')}
    </ActionButton>
  );
}

/** Leads to the form of a new bucket, filled with this one's definition. */
function CloneButton({ bucket }: { bucket: Bucket }) {
  const { t } = useTranslation();
  return (
    <ActionButton
      to={`/create/bucket?from=${bucket.name}`}
      variant="default"
      leftSection={<IconCopyPlus size={16} aria-hidden />}
      denied={can(useMe(), 'bucket.create') ? undefined : t('denied.createBucket')}
    >
      {t('bucket.clone')}
    </ActionButton>
  );
}
