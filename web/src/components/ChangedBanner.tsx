import { Alert, Anchor } from '@mantine/core';
import { IconRefreshAlert } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useMe } from '@/lib/api/me';
import { RelativeTime } from './RelativeTime';

interface ChangedBannerProps {
  /** The record as it is now. */
  record: { revision: number; updated_by: string; updated_at: string };
  /** Where the change can be read. */
  history?: string;
}

/** Says that someone else changed the record that is on the page, which shows the change already. */
export function ChangedBanner({ record, history }: ChangedBannerProps) {
  const { t } = useTranslation();
  const me = useMe();
  const [seen, setSeen] = useState(record.revision);
  if (record.revision > seen && record.updated_by === me.name) setSeen(record.revision);
  return (
    <div role="status" aria-live="polite">
      {record.revision > seen && (
        <Alert
          color="blue"
          mb="md"
          icon={<IconRefreshAlert aria-hidden />}
          title={t('stale.elsewhere', { who: record.updated_by, revision: record.revision })}
          withCloseButton
          closeButtonLabel={t('common.close')}
          onClose={() => setSeen(record.revision)}
        >
          {t('stale.elsewhereText')} <RelativeTime at={record.updated_at} />.{' '}
          {history && (
            <Anchor component={Link} to={history} inherit underline="always">
              {t('stale.seeHistory')}
            </Anchor>
          )}
        </Alert>
      )}
    </div>
  );
}
