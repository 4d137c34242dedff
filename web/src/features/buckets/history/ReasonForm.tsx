import { Alert, Button, Group, List, Stack, Text, Textarea } from '@mantine/core';
import { useRef, useState, type FormEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { fieldErrorsOf } from '@/lib/form-errors';
import { useOpenForm } from '@/lib/unsaved';
import { CancelButton } from '@/components/FormDialog';
import { reasonError } from '@/features/buckets/form/validate';

interface ReasonFormProps {
  children: ReactNode;
  onSubmit: (reason: string) => void;
  onCancel: () => void;
  submitLabel: string;
  saving: boolean;
  /** The server's refusal, with the fields that it names. */
  error: unknown;
  /** The refusal in words. */
  message: string | null;
}

/** The end of a dialog that brings an earlier definition back: the reason, what the server refused, and the two buttons. */
export function ReasonForm({ children, onSubmit, onCancel, submitLabel, saving, error, message }: ReasonFormProps) {
  const { t } = useTranslation();
  const [reason, setReason] = useState('');
  const [missing, setMissing] = useState<string>();
  const fields = fieldErrorsOf(error);
  const sent = useRef('');
  // What was sent is not unsaved, until it is refused.
  useOpenForm({ dirty: () => reason.trim() !== '' && (reason !== sent.current || message !== null) });

  function submit(event: FormEvent) {
    event.preventDefault();
    const problem = reasonError(reason, t);
    setMissing(problem);
    if (problem !== undefined) return;
    sent.current = reason;
    onSubmit(reason.trim());
  }

  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {children}
        <Textarea
          label={t('reason.label')}
          description={t('reason.hint')}
          required
          data-autofocus
          autosize
          minRows={2}
          value={reason}
          error={missing}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        {message && (
          <Alert color="red" role="alert">
            <Text size="sm">{message}</Text>
            {fields.length > 0 && (
              <List size="sm" mt={4}>
                {fields.map(({ field, message: rule }) => (
                  <List.Item key={field + rule}>
                    {field}: {rule}
                  </List.Item>
                ))}
              </List>
            )}
          </Alert>
        )}
        <Group justify="flex-end">
          <CancelButton onCancel={onCancel} />
          <Button type="submit" loading={saving}>
            {submitLabel}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
