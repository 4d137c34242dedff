import { Button, Group, Stack, Text, TextInput, Textarea } from '@mantine/core';
import { useRef, useState, type FormEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ApiCall } from '@/lib/curl';
import { useDraft } from '@/lib/drafts';
import { useOpenForm } from '@/lib/unsaved';
import { CurlButton } from './CurlButton';
import { CancelButton, FormDialog } from './FormDialog';

export interface DeleteByNameProps {
  opened: boolean;
  onClose: () => void;
  name: string;
  title: string;
  /** What will be lost. */
  children: ReactNode;
  /** What the button says that does it. */
  confirm?: string;
  /** Ask for a reason as well. */
  withReason?: boolean;
  onDelete: (reason: string) => void;
  deleting: boolean;
  error?: string | undefined;
  /** The request that deleting makes, for "copy as curl". */
  curl?: (reason: string) => ApiCall;
}

/** Asks for a record's name to be typed before it is deleted. */
export function DeleteByNameDialog(props: DeleteByNameProps) {
  return (
    <FormDialog
      opened={props.opened}
      onClose={props.onClose}
      title={props.title}
    >
      <DeleteForm {...props} />
    </FormDialog>
  );
}

// A component of its own, so that what was typed is forgotten when the dialog closes.
function DeleteForm({ name, children, confirm, withReason = false, onDelete, onClose, deleting, error, curl }: DeleteByNameProps) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState('');
  const draft = useDraft<{ reason: string }>('delete');
  const [reason, setReason] = useState(draft?.values.reason ?? '');
  const ready = typed === name && (!withReason || reason.trim() !== '');

  const sent = useRef(false);
  useOpenForm({
    dirty: () => (typed !== '' || reason.trim() !== '') && (!sent.current || error !== undefined),
    // The name is typed again: that it was meant must be said by whoever presses the button.
    keep: () => (reason.trim() === '' ? null : { id: 'delete', values: { reason } }),
  });

  function submit(event: FormEvent) {
    event.preventDefault();
    if (!ready) return;
    sent.current = true;
    onDelete(reason.trim());
  }

  return (
    <form onSubmit={submit}>
      <Stack>
        {children}
        {withReason && (
          <Textarea
            label={t('reason.label')}
            required
            data-autofocus
            maxLength={500}
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
        )}
        <TextInput
          label={t('delete.typeName', { name })}
          required
          data-autofocus={!withReason || undefined}
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
          {curl && <CurlButton call={() => curl(reason)} />}
          <CancelButton onCancel={onClose} />
          <Button type="submit" color="red.8" disabled={!ready} loading={deleting}>
            {confirm ?? t('delete.confirm')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
