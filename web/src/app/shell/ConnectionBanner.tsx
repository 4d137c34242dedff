import { Alert, Button, Text } from '@mantine/core';
import { IconAlertTriangle, IconHourglass, IconPlugConnectedX, IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '@/lib/api/problem';
import { useConnectionLost } from '@/lib/connection';
import { useRefreshTrouble } from '@/lib/refresh-trouble';
import { useSlow } from '@/lib/slow';
import { errorText } from '@/components/error-text';
import { RequestId } from '@/components/States';

/** Says that the server is away, fails or is slow, so that what is on the page may be old; it goes by itself. */
export function ConnectionBanner() {
  return (
    <div role="status" aria-live="polite">
      <Trouble />
    </div>
  );
}

function Trouble() {
  const { t } = useTranslation();
  const lost = useConnectionLost();
  const slow = useSlow();
  const { error, retry } = useRefreshTrouble();
  if (lost) {
    return (
      <Alert color="orange" mb="md" icon={<IconPlugConnectedX aria-hidden />} title={t('connection.lostTitle')}>
        {t('connection.lostText')}
      </Alert>
    );
  }
  if (error instanceof ApiError && error.status === 404) {
    return (
      <Alert color="orange" mb="md" icon={<IconTrash aria-hidden />} title={t('connection.goneTitle')}>
        {t('connection.goneText')}
      </Alert>
    );
  }
  if (error) {
    return (
      <Alert color="orange" mb="md" icon={<IconAlertTriangle aria-hidden />} title={t('connection.oldTitle')}>
        <Text size="sm" mb="xs">
          {t('connection.oldText')} {errorText(error, t, true)}
        </Text>
        <RequestId error={error} />
        <Button size="xs" mt="xs" variant="default" onClick={retry}>
          {t('common.retry')}
        </Button>
      </Alert>
    );
  }
  if (!slow) return null;
  return (
    <Alert color="gray" mb="md" icon={<IconHourglass aria-hidden />} title={t('connection.slowTitle')}>
      {t('connection.slowText')}
    </Alert>
  );
}
