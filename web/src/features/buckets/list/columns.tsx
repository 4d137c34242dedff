import { Anchor, Group, Text } from '@mantine/core';
import type { TFunction } from 'i18next';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { Bucket } from '@/lib/api/types';
import { allApps } from '@/lib/definition';
import type { Column } from '@/components/DataTable';
import { Name } from '@/components/Name';
import { RelativeTime } from '@/components/RelativeTime';
import { Written } from '@/components/Written';
import { ModeBadge, SyncBadge } from '@/features/buckets/Badges';
import { LimitText } from '@/components/LimitText';
import { labelTexts } from './labels';
import classes from './columns.module.css';
import { Sparkline } from './Sparkline';

const namesShown = 2;
const labelsShown = 3;

/** The columns of the bucket list. */
export function useBucketColumns(): Column<Bucket>[] {
  const { t } = useTranslation();
  return useMemo(() => bucketColumns(t), [t]);
}

function bucketColumns(t: TFunction): Column<Bucket>[] {
  return [
    { id: 'name', header: t('field.name'), sort: 'name', heading: true, cell: (bucket) => <NameCell bucket={bucket} /> },
    { id: 'limit', header: t('field.limit'), cell: (bucket) => <LimitCell bucket={bucket} /> },
    { id: 'traffic', header: t('field.traffic'), cell: (bucket) => <Sparkline name={bucket.name} /> },
    { id: 'mode', header: t('field.mode'), cell: (bucket) => <ModeBadge mode={bucket.mode} /> },
    {
      id: 'apps',
      header: t('field.apps'),
      cell: ({ apps }) => (apps.includes(allApps) ? t('value.allApps') : <Names names={apps} />),
    },
    { id: 'owners', header: t('field.owners'), cell: ({ owners }) => <Names names={owners} /> },
    { id: 'sync', header: t('field.sync'), cell: (bucket) => <SyncBadge sync={bucket.sync} /> },
    {
      id: 'updated',
      header: t('field.updated'),
      sort: 'updated_at',
      cell: (bucket) => (
        <Text size="sm" component="span">
          <RelativeTime at={bucket.updated_at} />
        </Text>
      ),
    },
  ];
}

function NameCell({ bucket }: { bucket: Bucket }) {
  return (
    <>
      <Name name={bucket.name} to={`/buckets/${bucket.name}`} />
      {bucket.description && (
        <Text size="sm" c="dimmed" lineClamp={1}>
          <Written>{bucket.description}</Written>
        </Text>
      )}
      <LabelLinks bucket={bucket} />
    </>
  );
}

/** A bucket's labels, each leading to all buckets that carry it. */
function LabelLinks({ bucket }: { bucket: Bucket }) {
  const { t } = useTranslation();
  const labels = labelTexts(bucket);
  if (labels.length === 0) return null;
  const more = labels.slice(labelsShown);
  return (
    <Group gap="xs" mt={2} style={{ rowGap: 0 }}>
      {labels.slice(0, labelsShown).map((label) => (
        <Anchor
          key={label}
          component={Link}
          to={`/buckets?label=${encodeURIComponent(label)}`}
          size="xs"
          fw={400}
          underline="always"
          lineClamp={1}
          title={label}
          style={{ wordBreak: 'break-all' }}
        >
          {label}
        </Anchor>
      ))}
      {more.length > 0 && (
        <Text span size="xs" c="dimmed" title={more.join(', ')}>
          {t('common.more', { count: more.length })}
        </Text>
      )}
    </Group>
  );
}

function LimitCell({ bucket }: { bucket: Bucket }) {
  const { t } = useTranslation();
  return (
    <div className={classes.limit}>
      <LimitText limit={bucket} />
      <Text size="sm" c="dimmed">
        {t(`algorithm.${bucket.algorithm}.name`)}
      </Text>
    </div>
  );
}

function Names({ names }: { names: readonly string[] }) {
  const { t } = useTranslation();
  if (names.length === 0) return <Text inherit c="dimmed">{t('common.none')}</Text>;
  const more = names.length - namesShown;
  return (
    <span title={names.join(', ')} className={classes.names}>
      {names.slice(0, namesShown).join(', ')}
      {more > 0 && ` ${t('common.more', { count: more })}`}
    </span>
  );
}
