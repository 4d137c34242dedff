import { Alert, Anchor, Stack, Text } from '@mantine/core';
import { IconBucketDroplet } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link, useSearchParams } from 'react-router';
import type { AsOfBucket } from '@/lib/api/types';
import { absoluteTime } from '@/lib/format/time';
import { useZone } from '@/lib/zone';
import { CursorPager } from '@/components/CursorPager';
import { DataTable, type Column } from '@/components/DataTable';
import { useLimitText } from '@/components/LimitText';
import { RelativeTime } from '@/components/RelativeTime';
import { ErrorState, State } from '@/components/States';
import { useBucketsAsOf } from './api/as-of';
import { AsOfBreakGlass } from './AsOfBreakGlass';
import { AsOfPeople } from './AsOfPeople';

/** All buckets that were in force, and the admins who could change every one of them. */
export function AsOfAll({ at }: { at: string }) {
  const { t, i18n } = useTranslation();
  const zone = useZone();
  const [params] = useSearchParams();
  const found = useBucketsAsOf({ at, cursor: params.get('cursor') ?? '', enabled: true });
  const columns = useColumns();
  if (found.error) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  const kept = found.data?.kept_since;
  return (
    <Stack gap="lg">
      {kept && new Date(at) < new Date(kept) && (
        <Alert color="orange">{t('asOf.keptSince', { time: absoluteTime(new Date(kept), i18n.language, zone) })}</Alert>
      )}
      {found.data && <AsOfBreakGlass covered={found.data.break_glass} />}
      {found.data && <AsOfPeople title={t('asOf.admins')} description={t('asOf.adminsText')} people={found.data.admins} />}
      {found.data?.items.length === 0 ? (
        <State icon={IconBucketDroplet} title={t('asOf.none')} />
      ) : (
        <DataTable label={t('asOf.title')} columns={columns} rows={found.data?.items} rowId={(bucket) => bucket.name} />
      )}
      <CursorPager next={found.data?.next || undefined} />
    </Stack>
  );
}

function useColumns(): Column<AsOfBucket>[] {
  const { t } = useTranslation();
  const limit = useLimitText();
  const [params] = useSearchParams();
  const linkTo = (bucket: string) => `?${new URLSearchParams({ at: params.get('at') ?? '', bucket }).toString()}`;
  return [
    {
      id: 'name',
      header: t('field.name'),
      heading: true,
      cell: ({ name }) => (
        <Anchor component={Link} to={linkTo(name)} fw={600} inherit style={{ overflowWrap: 'anywhere' }}>
          {name}
        </Anchor>
      ),
    },
    {
      id: 'limit',
      header: t('field.limit'),
      cell: ({ definition, state }) => (definition ? limit(definition) : t(`asOfState.${state}`)),
    },
    { id: 'owners', header: t('field.owners'), cell: ({ definition }) => definition?.owners.join(', ') ?? '–' },
    {
      id: 'since',
      header: t('asOf.since'),
      cell: ({ since, by, revision }) =>
        since ? (
          <>
            <RelativeTime at={since} />
            <Text size="sm" c="dimmed">
              {by} · {t('bucket.revision', { revision })}
            </Text>
          </>
        ) : (
          '–'
        ),
    },
  ];
}
