import { SimpleGrid, Skeleton, Stack, Text } from '@mantine/core';
import { IconBucketDroplet } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '@/lib/api/problem';
import type { AsOfBucketPeople } from '@/lib/api/types';
import { showDefinitionValue } from '@/components/DefinitionValue';
import { LimitText } from '@/components/LimitText';
import { RelativeTime } from '@/components/RelativeTime';
import { Section } from '@/components/Section';
import { ErrorState, State } from '@/components/States';
import { Written } from '@/components/Written';
import { useBucketAsOf } from './api/as-of';
import { AsOfBreakGlass } from './AsOfBreakGlass';
import { AsOfPeople } from './AsOfPeople';

/** One bucket at an instant: its definition, and who could change and see it. */
export function AsOfOne({ name, at }: { name: string; at: string }) {
  const { t } = useTranslation();
  const found = useBucketAsOf({ name, at, enabled: true });
  if (found.error instanceof ApiError && found.error.status === 404) {
    return (
      <State icon={IconBucketDroplet} title={t('asOf.unknown', { name })}>
        <Text c="dimmed" maw={480}>
          {t('asOf.unknownText')}
        </Text>
      </State>
    );
  }
  if (found.error) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  if (!found.data) {
    return (
      <Stack role="status" aria-label={t('common.loading')}>
        <Skeleton height={220} />
      </Stack>
    );
  }
  const { could_change, could_see } = found.data;
  return (
    <Stack gap="lg">
      <AsOfBreakGlass covered={found.data.break_glass} />
      <Definition bucket={found.data} />
      {found.data.definition && (
        <>
          <AsOfPeople title={t('asOf.couldChange')} description={t('asOf.couldChangeText')} people={could_change} />
          <AsOfPeople title={t('asOf.couldSee')} description={t('asOf.couldSeeText')} people={could_see} />
        </>
      )}
    </Stack>
  );
}

const fields = ['algorithm', 'mode', 'partition', 'on_redis_failure', 'after_loss', 'apps', 'owners', 'labels', 'description'] as const;
const lists: ReadonlySet<string> = new Set(['apps', 'owners', 'labels', 'description']); // may be long

function Definition({ bucket }: { bucket: AsOfBucketPeople }) {
  const { t, i18n } = useTranslation();
  const { definition, since } = bucket;
  return (
    <Section title={bucket.name} description={t(`asOfState.${bucket.state}`)}>
      {definition && (
        <Text fw={600} mb="sm">
          <LimitText limit={definition} />
        </Text>
      )}
      {since && (
        <Text size="sm" c="dimmed" mb="sm" style={{ overflowWrap: 'anywhere' }}>
          {t('bucket.revision', { revision: bucket.revision })} · {bucket.by} · <RelativeTime at={since} />
          {bucket.reason && (
            <>
              {' · '}
              <Written>{bucket.reason}</Written>
            </>
          )}
        </Text>
      )}
      {definition && (
        <SimpleGrid cols={{ base: 1, sm: 3 }} component="dl" m={0}>
          {fields.map((field) => (
            <div key={field} style={{ minWidth: 0, overflowWrap: 'anywhere', ...(lists.has(field) ? { gridColumn: '1 / -1' } : {}) }}>
              <Text component="dt" size="sm" c="dimmed">
                {t(`field.${field}`)}
              </Text>
              <dd style={{ margin: 0 }}>{showDefinitionValue(field, definition[field], t, i18n.language)}</dd>
            </div>
          ))}
        </SimpleGrid>
      )}
    </Section>
  );
}
