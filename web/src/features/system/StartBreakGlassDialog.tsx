import { Alert, Radio, Select, Stack, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useStartBreakGlass } from '@/lib/api/break-glass';
import { useMe } from '@/lib/api/me';
import { useAppNames } from '@/lib/api/names';
import { hasCode } from '@/lib/api/problem';
import type { BreakGlass } from '@/lib/api/types';
import { useSimpleForm } from '@/lib/use-simple-form';
import { errorText } from '@/components/error-text';
import { DialogForm, FormDialog } from '@/components/FormDialog';
import { showDone, showPending } from '@/components/notify';

const word = 'SHADOW';
const longestReason = 500;

/** Puts everything, or one app's calls, into shadow, after the word was typed. */
export function StartBreakGlassDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <FormDialog opened={opened} onClose={onClose} title={t('breakGlass.start')}>
      <StartForm onClose={onClose} />
    </FormDialog>
  );
}

function StartForm({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const me = useMe();
  const start = useStartBreakGlass();
  const [search, setSearch] = useState('');
  const apps = useAppNames(search);
  const { form, element, refusal, refused, onSubmit } = useSimpleForm({
    initialValues: { scope: 'all' as BreakGlass['scope'], app: '', reason: '', confirm: '' },
    validate: {
      app: (app, values) => (values.scope === 'app' && !app ? t('breakGlass.pickApp') : null),
      reason: (reason) => (reason.trim() ? null : t('rule.reason')),
      confirm: (typed) => (typed === word ? null : t('breakGlass.typeWord', { word })),
    },
  });
  const body = ({ scope, app, reason, confirm }: typeof form.values) => ({ scope, reason: reason.trim(), confirm, ...(scope === 'app' ? { app } : {}) });
  const save = onSubmit((values) =>
    start.mutate(
      body(values),
      {
        onSuccess: ({ sync }) => {
          if (sync === 'synced') showDone(t('breakGlass.started'), t);
          else showPending(t('breakGlass.startedPending'), t);
          onClose();
        },
        onError: (error) => refused(error, hasCode(error, 'taken') ? t('breakGlass.taken') : errorText(error, t)),
      },
    ),
  );
  return (
    <DialogForm
      ref={element}
      onSubmit={save}
      onCancel={onClose}
      submitLabel={t('breakGlass.start')}
      saving={start.isPending}
      drastic
      refusal={refusal}
      curl={() => ({ method: 'POST', path: '/break-glass', body: body(form.getValues()), login: me.name })}
    >
      <Alert color="red">{t(form.values.scope === 'app' ? 'breakGlass.warningApp' : 'breakGlass.warning')}</Alert>
      <Radio.Group label={t('breakGlass.scope')} {...form.getInputProps('scope')}>
        <Stack gap="xs" mt="xs">
          <Radio value="all" label={t('breakGlass.all')} description={t('breakGlass.allText')} />
          <Radio value="app" label={t('breakGlass.oneApp')} description={t('breakGlass.oneAppText')} />
        </Stack>
      </Radio.Group>
      {form.values.scope === 'app' && (
        <Select
          label={t('breakGlass.whichApp')}
          required
          searchable
          onSearchChange={setSearch}
          data={apps.data ?? []}
          nothingFoundMessage={t('picker.nothing')}
          {...form.getInputProps('app')}
        />
      )}
      <Textarea
        label={t('reason.label')}
        description={t('breakGlass.reasonText')}
        required
        maxLength={longestReason}
        {...form.getInputProps('reason')}
      />
      <TextInput
        label={t('breakGlass.typeWord', { word })}
        required
        autoComplete="off"
        autoCapitalize="characters"
        spellCheck={false}
        {...form.getInputProps('confirm')}
      />
    </DialogForm>
  );
}
