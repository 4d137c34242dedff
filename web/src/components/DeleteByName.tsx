import { Button, Group, Modal, Stack, Text, TextInput, Textarea } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

interface DeleteByNameProps {
  opened: boolean;
  onClose: () => void;
  name: string;
  title: string;
  /** What will be lost. */
  children: ReactNode;
  /** Ask for a reason as well. */
  withReason?: boolean;
  onDelete: (reason: string) => void;
  deleting: boolean;
  error?: string | undefined;
}

/** Asks for a record's name to be typed before it is deleted. */
export function DeleteByName(props: DeleteByNameProps) {
  const { t } = useTranslation();
  return (
    <Modal
      opened={props.opened}
      onClose={props.onClose}
      title={props.title}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <DeleteForm {...props} />
    </Modal>
  );
}

// A component of its own, so that what was typed is forgotten when the dialog closes.
function DeleteForm({ name, children, withReason = false, onDelete, onClose, deleting, error }: DeleteByNameProps) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState('');
  const [reason, setReason] = useState('');
  const ready = typed === name && (!withReason || reason.trim() !== '');

  function submit(event: FormEvent) {
    event.preventDefault();
    if (ready) onDelete(reason.trim());
  }

  return (
    <form onSubmit={submit}>
      <Stack>
        {children}
        {withReason && (
          <Textarea
            label={t('reason.label')}
            required
            maxLength={500}
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
        )}
        <TextInput
          label={t('delete.typeName', { name })}
          required
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        {error && (
          <Text c="var(--mantine-color-error)" role="alert">
            {error}
          </Text>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('common.cancel')}
          </Button>
          <Button type="submit" color="red.8" disabled={!ready} loading={deleting}>
            {t('delete.confirm')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
