import { Center, Loader } from '@mantine/core';
import { useTranslation } from 'react-i18next';

/** Shown while a page's code or the session is on its way. */
export function PageLoader() {
  const { t } = useTranslation();
  return (
    <Center component="main" mih="60vh">
      <Loader aria-label={t('common.loading')} role="status" />
    </Center>
  );
}
