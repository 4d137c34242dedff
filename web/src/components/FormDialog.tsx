import { Alert, Button, Group, Modal, Stack } from '@mantine/core';
import type { FormEventHandler, ReactNode, Ref } from 'react';
import { useTranslation } from 'react-i18next';

interface FormDialogProps {
  opened: boolean;
  onClose: () => void;
  title: string;
  /** The form; it is made anew at each opening, so what was typed is forgotten at the closing. */
  children: ReactNode;
}

/** A dialog around a form. */
export function FormDialog({ opened, onClose, title, children }: FormDialogProps) {
  const { t } = useTranslation();
  return (
    <Modal opened={opened} onClose={onClose} title={title} closeButtonProps={{ 'aria-label': t('common.close') }}>
      {children}
    </Modal>
  );
}

interface DialogFormProps {
  onSubmit: FormEventHandler<HTMLFormElement>;
  onCancel: () => void;
  submitLabel: string;
  saving: boolean;
  /** What the server refused and what belongs to no input. */
  refusal: string[];
  children: ReactNode;
  ref?: Ref<HTMLFormElement>;
}

/** The form inside a dialog: inputs, refusals, and the two buttons. */
export function DialogForm({ onSubmit, onCancel, submitLabel, saving, refusal, children, ref }: DialogFormProps) {
  const { t } = useTranslation();
  return (
    <form ref={ref} onSubmit={onSubmit} noValidate>
      <Stack>
        {children}
        {refusal.length > 0 && (
          <Alert color="red" role="alert">
            {refusal.join(' ')}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            {t('common.cancel')}
          </Button>
          <Button type="submit" loading={saving}>
            {submitLabel}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
