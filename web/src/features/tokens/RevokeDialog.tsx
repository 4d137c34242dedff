import { Text, Textarea } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useMe } from '@/lib/api/me';
import type { Token } from '@/lib/api/types';
import { deletion } from '@/lib/curl';
import { useSimpleForm } from '@/lib/use-simple-form';
import { errorText } from '@/components/error-text';
import { DialogForm } from '@/components/FormDialog';
import { RecordDialog, type Asked } from '@/components/RecordDialog';
import { showDone } from '@/components/notify';
import { useRevokeToken } from './api/tokens';
import { mayEnd } from './choices';

/** Asks before a token is revoked for good. */
export function RevokeDialog({ of, onClose }: { of: Asked<Token>; onClose: () => void }) {
  const { t } = useTranslation();
  const title = of.record ? t('tokens.revokeOf', { name: of.record.name }) : t('tokens.revoke');
  return (
    <RecordDialog of={of} onClose={onClose} title={title} none={t('tokens.gone')}>
      {(token) => (mayEnd(token) ? <RevokeForm token={token} onClose={onClose} /> : <Text>{t('tokens.hasEnded')}</Text>)}
    </RecordDialog>
  );
}

function RevokeForm({ token, onClose }: { token: Token; onClose: () => void }) {
  const { t } = useTranslation();
  const me = useMe();
  const revoke = useRevokeToken();
  const { form, element, refusal, refused, onSubmit } = useSimpleForm({ initialValues: { reason: '' } });
  const save = onSubmit(({ reason }) =>
    revoke.mutate(
      { id: token.id, reason: reason.trim() },
      {
        onSuccess: () => {
          showDone(t('tokens.revoked', { name: token.name }), t);
          onClose();
        },
        onError: (error) => refused(error, errorText(error, t)),
      },
    ),
  );
  return (
    <DialogForm
      ref={element}
      onSubmit={save}
      onCancel={onClose}
      submitLabel={t('tokens.revoke')}
      saving={revoke.isPending}
      refusal={refusal}
      curl={() => deletion(`/tokens/${token.id}`, form.getValues().reason, { login: me.name })}
    >
      <Text>{t('tokens.revokeText')}</Text>
      <Textarea label={t('tokens.reason')} maxLength={500} data-autofocus {...form.getInputProps('reason')} />
    </DialogForm>
  );
}
