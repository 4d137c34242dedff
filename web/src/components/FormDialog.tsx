import { Alert, Button, Group, Modal, Stack, type ModalProps } from '@mantine/core';
import { use, useState, type FormEventHandler, type ReactNode, type Ref } from 'react';
import { useTranslation } from 'react-i18next';
import type { ApiCall } from '@/lib/curl';
import { FormScope, leaveAfterAsking, useLeaveQuestion, type OpenForm } from '@/lib/unsaved';
import { CurlButton } from './CurlButton';

interface FormDialogProps extends Pick<ModalProps, 'size' | 'closeOnClickOutside' | 'closeOnEscape' | 'withCloseButton' | 'onExitTransitionEnd'> {
  opened: boolean;
  onClose: () => void;
  title: string;
  /** The form; it is made anew at each opening, so what was typed is forgotten at the closing. */
  children: ReactNode;
}

/** A dialog around a form. It asks before it closes over what was typed. */
export function FormDialog({ onClose, children, closeOnEscape = true, ...rest }: FormDialogProps) {
  const { t } = useTranslation();
  const [scope] = useState(() => new Set<OpenForm>());
  const asking = useLeaveQuestion(); // then Escape answers the question
  return (
    <FormScope value={scope}>
      <Modal
        size="32rem" // in which the three buttons of a form stand side by side
        {...rest}
        onClose={() => leaveAfterAsking(onClose, scope)}
        closeOnEscape={closeOnEscape && !asking}
        closeButtonProps={{ 'aria-label': t('common.close') }}
      >
        {children}
      </Modal>
    </FormScope>
  );
}

interface DialogFormProps {
  onSubmit: FormEventHandler<HTMLFormElement>;
  onCancel: () => void;
  submitLabel: string;
  saving: boolean;
  /** What the server refused and what belongs to no input. */
  refusal: string[];
  /** Submitting does harm on purpose. */
  drastic?: boolean;
  /** The request that submitting makes of the present input, for "copy as curl". */
  curl?: () => ApiCall;
  children: ReactNode;
  ref?: Ref<HTMLFormElement>;
}

/** The form inside a dialog: inputs, refusals, and the two buttons. */
export function DialogForm({ onSubmit, onCancel, submitLabel, saving, refusal, drastic = false, curl, children, ref }: DialogFormProps) {
  return (
    <form ref={ref} onSubmit={onSubmit} noValidate>
      <Stack>
        {children}
        {refusal.length > 0 && (
          <Alert color="red" role="alert">
            {refusal.join(' ')}
          </Alert>
        )}
        <Group justify="flex-end" gap="xs">
          {curl && <CurlButton call={curl} />}
          <CancelButton onCancel={onCancel} />
          <Button type="submit" loading={saving} {...(drastic ? { color: 'red.8' } : {})}>
            {submitLabel}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** Gives a form in a dialog up, after asking where something was typed. */
export function CancelButton({ onCancel }: { onCancel: () => void }) {
  const { t } = useTranslation();
  const scope = use(FormScope);
  return (
    <Button variant="default" onClick={() => leaveAfterAsking(onCancel, scope ?? undefined)}>
      {t('common.cancel')}
    </Button>
  );
}
