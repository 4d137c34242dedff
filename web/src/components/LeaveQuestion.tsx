import { Button, Group, Modal, Text } from '@mantine/core';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { useBlocker } from 'react-router';
import { answerLeave, anyDirty, isDecided, useLeaveQuestion } from '@/lib/unsaved';
import { dialogParam } from '@/lib/url-dialog';

const dialogOf = (search: string) => new URLSearchParams(search).get(dialogParam);

/** Asks before a page or a dialog with unsaved input is left; there is one for the whole console. The way to the login stays free. */
export function LeaveQuestion() {
  const { t } = useTranslation();
  const asked = useLeaveQuestion();
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) =>
      !isDecided() &&
      nextLocation.pathname !== '/login' &&
      (currentLocation.pathname !== nextLocation.pathname || dialogOf(currentLocation.search) !== dialogOf(nextLocation.search)) &&
      anyDirty(),
  );
  useEffect(() => {
    function warn(event: BeforeUnloadEvent) {
      if (anyDirty()) event.preventDefault();
    }
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, []);

  function answer(leave: boolean) {
    if (asked) answerLeave(leave);
    else if (leave) blocker.proceed?.();
    else blocker.reset?.();
  }

  return (
    <Modal
      opened={asked || blocker.state === 'blocked'}
      onClose={() => answer(false)}
      title={t('unsaved.title')}
      closeButtonProps={{ 'aria-label': t('common.close') }}
      zIndex={300}
    >
      <Text mb="md">{t('unsaved.text')}</Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={() => answer(true)}>
          {t('unsaved.leave')}
        </Button>
        <Button onClick={() => answer(false)} data-autofocus>
          {t('unsaved.stay')}
        </Button>
      </Group>
    </Modal>
  );
}
