import { Anchor, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { Section } from '@/components/Section';
import { StateBadge } from '@/components/StateBadge';

/** Whether Redis has the present revision of every bucket. */
export function SyncCard({ pending }: { pending: number }) {
  const { t } = useTranslation();
  return (
    <Section
      title={t('system.sync')}
      description={t('system.syncText')}
      actions={<StateBadge tone={pending === 0 ? 'good' : 'watch'}>{t(pending === 0 ? 'system.equal' : 'system.behind')}</StateBadge>}
    >
      {pending === 0 ? (
        <Text>{t('system.nonePending')}</Text>
      ) : (
        <Anchor component={Link} to="/buckets?sync=pending">
          {t('system.pending', { count: pending })}
        </Anchor>
      )}
    </Section>
  );
}
