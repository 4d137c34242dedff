import { Button, Group, Modal, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';

interface LeaveDialogProps {
  opened: boolean;
  onAnswer: (leave: boolean) => void;
}

/** The words of the question whether to leave unsaved input behind. */
export function LeaveDialog({ opened, onAnswer }: LeaveDialogProps) {
  const { t } = useTranslation();
  const [settled, setSettled] = useState(false);
  // Escape in a form's dialog asks; the same press, which comes here after it, must not answer.
  useEffect(() => {
    if (!opened) return;
    const frame = requestAnimationFrame(() => setSettled(true));
    return () => {
      cancelAnimationFrame(frame);
      setSettled(false);
    };
  }, [opened]);
  return (
    <Modal
      opened={opened}
      closeOnEscape={settled}
      onClose={() => onAnswer(false)}
      title={t('unsaved.title')}
      closeButtonProps={{ 'aria-label': t('common.close') }}
      zIndex={300}
    >
      <Text mb="md">{t('unsaved.text')}</Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={() => onAnswer(true)}>
          {t('unsaved.leave')}
        </Button>
        <Button onClick={() => onAnswer(false)} data-autofocus>
          {t('unsaved.stay')}
        </Button>
      </Group>
    </Modal>
  );
}
