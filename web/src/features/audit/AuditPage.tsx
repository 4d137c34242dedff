import { Text } from '@mantine/core';
import { IconCalendarSearch, IconFilterOff, IconHistory, IconShieldCheck } from '@tabler/icons-react';
import { useDeferredValue } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import { can, useMe } from '@/lib/api/me';
import { useUrlDialog } from '@/lib/url-dialog';
import { useUrlSet } from '@/lib/url-state';
import { useZone } from '@/lib/zone';
import { ActionButton } from '@/components/ActionButton';
import { ClearFilters } from '@/components/ClearFilters';
import { CursorPager } from '@/components/CursorPager';
import { ExportMenu } from '@/components/ExportMenu';
import { PageHeader } from '@/components/PageHeader';
import { ErrorState, ForbiddenState, State } from '@/components/States';
import { useChanges } from './api/changes';
import { AuditFilters } from './AuditFilters';
import { ChainState } from './ChainState';
import { ChangeList } from './ChangeRow';
import { startOfDay } from './dates';
import { VerifyDialog } from './VerifyDialog';

/** Every change, login and refused attempt, newest first. */
export function AuditPage() {
  const me = useMe();
  return can(me, 'audit.read') ? <Audit /> : <ForbiddenState permission="audit.read" />;
}

const noFilters = { actor: '', action: '', target_kind: '', target: '', from: '', to: '' };

function Audit() {
  const { t } = useTranslation();
  const me = useMe();
  const [params] = useSearchParams();
  const set = useUrlSet();
  const zone = useZone();
  const [verifying, verify] = useUrlDialog('verify');
  const get = (name: string) => params.get(name) ?? '';
  const filters = {
    actor: get('actor'),
    action: get('action'),
    target_kind: get('target_kind'),
    target: get('target'),
    from: startOfDay(get('from'), zone),
    to: startOfDay(get('to'), zone, 1), // the day named is included
  };
  const changes = useChanges({ ...filters, cursor: get('cursor') });
  const narrowed = Object.keys(noFilters).some((name) => get(name) !== '') || get('cursor') !== '';
  // The first rows are drawn at once, others while there is time for it: whoever types need not wait for them.
  const items = useDeferredValue(changes.data?.items) ?? changes.data?.items;
  return (
    <>
      <PageHeader
        title={t('audit.title')}
        description={
          <>
            {t('audit.description')}
            <ChainState />
          </>
        }
        actions={
          <>
            <ActionButton to="/as-of" variant="default" leftSection={<IconCalendarSearch size={16} aria-hidden />}>
              {t('asOf.open')}
            </ActionButton>
            <ActionButton onClick={verify.open} variant="default" leftSection={<IconShieldCheck size={16} aria-hidden />}>
              {t('chain.verify')}
            </ActionButton>
            {can(me, 'audit.export') && <ExportMenu path="/api/v1/export/changes" formats={['csv', 'jsonl']} filters={filters} />}
          </>
        }
      />
      <AuditFilters />
      {changes.error && !changes.data ? (
        <ErrorState error={changes.error} onRetry={() => void changes.refetch()} />
      ) : items?.length === 0 ? (
        <State
          icon={narrowed ? IconFilterOff : IconHistory}
          title={narrowed ? t('audit.noMatch') : t('audit.empty')}
          actions={narrowed && <ClearFilters onClear={() => set(noFilters)} />}
        >
          {narrowed && <Text c="dimmed">{t('buckets.noMatchText')}</Text>}
        </State>
      ) : (
        <ChangeList changes={items} />
      )}
      <CursorPager next={changes.data?.next || undefined} />
      <VerifyDialog opened={verifying} onClose={verify.close} />
    </>
  );
}
