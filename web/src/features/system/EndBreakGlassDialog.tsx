import { Text, Textarea } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useEndBreakGlass } from '@/lib/api/break-glass';
import { useMe } from '@/lib/api/me';
import type { BreakGlass } from '@/lib/api/types';
import { deletion } from '@/lib/curl';
import { useSimpleForm } from '@/lib/use-simple-form';
import { errorText } from '@/components/error-text';
import { DialogForm, FormDialog } from '@/components/FormDialog';
import { showDone, showPending } from '@/components/notify';

const longestReason = 500;

/** Ends a break-glass: the definitions apply again, with all that was edited meanwhile. */
export function EndBreakGlassDialog({ one, onClose }: { one: BreakGlass | null; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <FormDialog opened={one !== null} onClose={onClose} title={t('breakGlass.endTitle')}>
      {one && <EndForm one={one} onClose={onClose} />}
    </FormDialog>
  );
}

function EndForm({ one, onClose }: { one: BreakGlass; onClose: () => void }) {
  const { t } = useTranslation();
  const me = useMe();
  const end = useEndBreakGlass();
  const { form, element, refusal, refused, onSubmit } = useSimpleForm({ initialValues: { reason: '' } });
  const save = onSubmit(({ reason }) =>
    end.mutate(
      { id: one.id, reason: reason.trim() },
      {
        onSuccess: ({ sync }) => {
          if (sync === 'synced') showDone(t('breakGlass.ended'), t);
          else showPending(t('breakGlass.endedPending'), t);
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
      submitLabel={t('breakGlass.endTitle')}
      saving={end.isPending}
      refusal={refusal}
      curl={() => deletion(`/break-glass/${one.id}`, form.getValues().reason, { login: me.name })}
    >
      <Text style={{ overflowWrap: 'anywhere' }}>
        {one.scope === 'app' ? t('breakGlass.endApp', { app: one.app }) : t('breakGlass.endAll')}
      </Text>
      <Textarea label={t('reason.label')} maxLength={longestReason} data-autofocus {...form.getInputProps('reason')} />
    </DialogForm>
  );
}
