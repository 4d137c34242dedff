import { Button, Group, Modal, Text } from '@mantine/core';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { useBlocker } from 'react-router';

/** Asks before a page with unsaved input is left. The way to the login page stays free. */
export function UnsavedGuard({ dirty }: { dirty: () => boolean }) {
  const { t } = useTranslation();
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) =>
      dirty() && nextLocation.pathname !== '/login' && currentLocation.pathname !== nextLocation.pathname,
  );
  useEffect(() => {
    function warn(event: BeforeUnloadEvent) {
      if (dirty()) event.preventDefault();
    }
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [dirty]);

  const stay = () => blocker.reset?.();
  return (
    <Modal
      opened={blocker.state === 'blocked'}
      onClose={stay}
      title={t('unsaved.title')}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <Text mb="md">{t('unsaved.text')}</Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={() => blocker.proceed?.()}>
          {t('unsaved.leave')}
        </Button>
        <Button onClick={stay} data-autofocus>
          {t('unsaved.stay')}
        </Button>
      </Group>
    </Modal>
  );
}
