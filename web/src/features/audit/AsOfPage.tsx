import { Group, Text, TextInput } from '@mantine/core';
import { IconCalendarSearch } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import { can, useMe } from '@/lib/api/me';
import { useUrlSet, useUrlText } from '@/lib/url-state';
import { useZone } from '@/lib/zone';
import { PageHeader } from '@/components/PageHeader';
import { ForbiddenState, State } from '@/components/States';
import { AsOfAll } from './AsOfAll';
import { AsOfOne } from './AsOfOne';
import { instantOf } from './dates';

/** What was in force at an instant, and who could change it. */
export function AsOfPage() {
  return can(useMe(), 'audit.read') ? <AsOf /> : <ForbiddenState permission="audit.read" />;
}

function AsOf() {
  const { t } = useTranslation();
  const [params] = useSearchParams();
  const set = useUrlSet();
  const zone = useZone();
  const bucket = useUrlText('bucket');
  const at = instantOf(params.get('at') ?? '', zone);
  const name = params.get('bucket') ?? '';
  return (
    <>
      <PageHeader title={t('asOf.title')} description={t('asOf.description')} up={{ to: '/audit', label: t('audit.title') }} />
      <Group mb="md" gap="sm" align="flex-end" role="search" aria-label={t('audit.filters')}>
        <TextInput
          type="datetime-local"
          label={t('asOf.at', { zone: t(`zone.${zone}`) })}
          value={params.get('at') ?? ''}
          onChange={(event) => set({ at: event.currentTarget.value, cursor: '' })}
          flex="1 1 14rem"
        />
        <TextInput
          label={t('asOf.bucket')}
          placeholder={t('common.any')}
          value={bucket.value}
          onChange={(event) => bucket.onChange(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
          flex="1 1 14rem"
        />
      </Group>
      {!at ? (
        <State icon={IconCalendarSearch} title={t('asOf.choose')}>
          <Text c="dimmed" maw={480}>
            {t('asOf.chooseText')}
          </Text>
        </State>
      ) : name ? (
        <AsOfOne name={name} at={at} />
      ) : (
        <AsOfAll at={at} />
      )}
    </>
  );
}
