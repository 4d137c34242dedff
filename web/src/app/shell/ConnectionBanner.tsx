import { Alert } from '@mantine/core';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useConnectionLost } from '@/lib/connection';

/** Says that the server cannot be reached; it goes by itself when the server answers again. */
export function ConnectionBanner() {
  const { t } = useTranslation();
  const lost = useConnectionLost();
  return (
    <div role="status" aria-live="polite">
      {lost && (
        <Alert color="orange" mb="md" icon={<IconPlugConnectedX aria-hidden />} title={t('connection.lostTitle')}>
          {t('connection.lostText')}
        </Alert>
      )}
    </div>
  );
}
