import { Alert, Button, Group, List, Stack, Text, Textarea } from '@mantine/core';
import { useRef, useState, type FormEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { faultInWords, fieldErrorsOf } from '@/lib/form-errors';
import type { ApiCall } from '@/lib/curl';
import { useDraft } from '@/lib/drafts';
import { useOpenForm } from '@/lib/unsaved';
import { CurlButton } from '@/components/CurlButton';
import { CancelButton } from '@/components/FormDialog';
import { reasonError } from '@/features/buckets/form/validate';

interface ReasonFormProps {
  children: ReactNode;
  onSubmit: (reason: string) => void;
  onCancel: () => void;
  submitLabel: string;
  saving: boolean;
  /** Submitting does harm on purpose. */
  drastic?: boolean;
  /** The server's refusal, with the fields that it names. */
  error: unknown;
  /** The refusal in words. */
  message: string | null;
  /** The request that submitting makes, for "copy as curl". */
  curl: (reason: string) => ApiCall;
}

/** The end of a dialog that brings an earlier definition back: the reason, what the server refused, and the two buttons. */
export function ReasonForm({ children, onSubmit, onCancel, submitLabel, saving, drastic = false, error, message, curl }: ReasonFormProps) {
  const { t } = useTranslation();
  const draft = useDraft<{ reason: string }>('reason');
  const [reason, setReason] = useState(draft?.values.reason ?? '');
  const [missing, setMissing] = useState<string>();
  const refused = fieldErrorsOf(error);
  const fields = refused.filter(({ field }) => field !== 'reason');
  const sent = useRef('');
  // What was sent is not unsaved, until it is refused.
  useOpenForm({
    dirty: () => reason.trim() !== '' && (reason !== sent.current || message !== null),
    keep: () => (reason.trim() === '' ? null : { id: 'reason', values: { reason } }),
  });

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
          error={missing ?? refused.find(({ field }) => field === 'reason')?.message}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        {message && (
          <Alert color="red" role="alert">
            <Text size="sm">{message}</Text>
            {fields.length > 0 && (
              <List size="sm" mt={4}>
                {fields.map((fault) => (
                  <List.Item key={fault.field + fault.message}>{faultInWords(fault)}</List.Item>
                ))}
              </List>
            )}
          </Alert>
        )}
        <Group justify="flex-end">
          <CurlButton call={() => curl(reason.trim())} />
          <CancelButton onCancel={onCancel} />
          <Button type="submit" loading={saving} {...(drastic ? { color: 'red.8' } : {})}>
            {submitLabel}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
