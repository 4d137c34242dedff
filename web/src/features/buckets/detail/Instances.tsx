import { Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Bucket } from '@/lib/api/types';
import { allApps } from '@/lib/definition';
import { errorText } from '@/components/error-text';
import { RelativeTime } from '@/components/RelativeTime';
import { Section } from '@/components/Section';
import { StateBadge } from '@/components/StateBadge';
import { useInstances } from '@/features/buckets/api/usage';

const shown = 20;

/** The live instances of the SDK that use the bucket, and the revision that each acts on. */
export function Instances({ bucket }: { bucket: Bucket }) {
  const { t } = useTranslation();
  const instances = useInstances(bucket.name);
  const items = instances.data?.items ?? [];
  const behind = items.filter((one) => one.revision !== bucket.revision).length;
  return (
    <Section
      title={t('instances.title')}
      description={t('instances.text')}
      actions={
        items.length > 0 && (
          <StateBadge tone={behind === 0 ? 'good' : 'watch'}>
            {behind === 0 ? t('instances.allCurrent') : t('instances.behind', { count: behind })}
          </StateBadge>
        )
      }
    >
      {instances.error && !instances.data ? (
        <Text size="sm">{errorText(instances.error, t)}</Text>
      ) : instances.data && items.length === 0 ? (
        <Text c="dimmed" size="sm">
          {t('instances.none')}
        </Text>
      ) : (
        <Table verticalSpacing={6} horizontalSpacing={0} aria-busy={!instances.data}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('instances.host')}</Table.Th>
              <Table.Th>{t('field.app')}</Table.Th>
              <Table.Th ta="end">{t('instances.revision')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {items.slice(0, shown).map((one) => (
              <Table.Tr key={one.id}>
                <Table.Th scope="row" fw={400} style={{ overflowWrap: 'anywhere' }}>
                  {one.host || one.id}
                  <Text size="xs" c="dimmed">
                    {one.version} · {t('instances.since')} <RelativeTime at={one.started} />
                  </Text>
                </Table.Th>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{one.app === allApps ? t('shares.other') : one.app}</Table.Td>
                <Table.Td ta="end" data-revision={one.revision}>
                  {one.revision}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {items.length > shown && (
        <Text size="sm" c="dimmed" mt="xs">
          {t('common.more', { count: items.length - shown })}
        </Text>
      )}
    </Section>
  );
}
