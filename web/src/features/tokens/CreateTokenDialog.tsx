import { Checkbox, Select, Stack, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { can, useMe } from '@/lib/api/me';
import { hasCode } from '@/lib/api/problem';
import type { NewSecret, TokenScope } from '@/lib/api/types';
import { useOnce } from '@/lib/use-once';
import { useSimpleForm } from '@/lib/use-simple-form';
import { errorText } from '@/components/error-text';
import { DialogForm, FormDialog } from '@/components/FormDialog';
import { useServiceAccounts } from './api/service-accounts';
import { useCreateToken } from './api/tokens';
import { isTokenName, lives, scopes, usualLife } from './choices';
import { SecretShown } from './SecretShown';

/** Makes an API token and shows its secret, this once. */
export function CreateTokenDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  const [made, setMade] = useOnce<NewSecret>(opened);

  // A click beside the dialog must not take the secret away before it was copied.
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={made ? t('tokens.madeTitle', { name: made.token.name }) : t('tokens.create')}
      size="lg"
      closeOnClickOutside={!made}
      closeOnEscape={!made}
      withCloseButton={!made}
    >
      {made ? <SecretShown secret={made.secret} onDone={onClose} /> : <CreateTokenForm onMade={setMade} onClose={onClose} />}
    </FormDialog>
  );
}

interface CreateTokenFormProps {
  onMade: (made: NewSecret) => void;
  onClose: () => void;
}

function CreateTokenForm({ onMade, onClose }: CreateTokenFormProps) {
  const { t } = useTranslation();
  const me = useMe();
  const manages = can(me, 'token.manage');
  const accounts = useServiceAccounts(manages);
  const create = useCreateToken();
  const { form, element, refusal, refused, onSubmit } = useSimpleForm({
    initialValues: { name: '', scopes: ['read'] as string[], expires_in_days: String(usualLife), service_account: null as string | null },
    validate: {
      name: (name) => (isTokenName(name) ? null : t('tokens.nameRule')),
      scopes: (chosen) => (chosen.length > 0 ? null : t('tokens.scopesRule')),
    },
  });
  const save = onSubmit((values) =>
    create.mutate(
      bodyOf(values),
      {
        onSuccess: onMade,
        onError: (error) => {
          if (hasCode(error, 'taken')) form.setFieldError('name', t('rule.taken'));
          else refused(error, errorText(error, t));
        },
      },
    ),
  );
  return (
    <DialogForm
      ref={element}
      onSubmit={save}
      onCancel={onClose}
      submitLabel={t('tokens.create')}
      saving={create.isPending}
      refusal={refusal}
      curl={() => ({ method: 'POST', path: '/tokens', body: bodyOf(form.getValues()), login: me.name })}
    >
      <TextInput
        label={t('field.name')}
        description={t('tokens.nameHint')}
        required
        data-autofocus
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        {...form.getInputProps('name')}
      />
      <Checkbox.Group
        label={t('tokens.scopes')}
        description={t('tokens.scopesHint')}
        required
        {...form.getInputProps('scopes')}
      >
        <Stack gap="xs" mt="xs">
          {scopes.map((scope) => (
            <Checkbox key={scope} value={scope} label={scope} description={t(`tokenScope.${scope}`)} />
          ))}
        </Stack>
      </Checkbox.Group>
      <Select
        label={t('tokens.expires')}
        description={t('tokens.expiresHint')}
        data={lives.map((days) => ({ value: String(days), label: t('tokens.days', { count: days }) }))}
        allowDeselect={false}
        {...form.getInputProps('expires_in_days')}
      />
      {manages && (
        <Select
          label={t('tokens.actsAs')}
          description={t('tokens.actsAsHint')}
          placeholder={t('tokens.myself')}
          data={accounts.data ?? []}
          nothingFoundMessage={t('tokens.noAccount')}
          searchable
          clearable
          clearButtonProps={{ 'aria-label': t('common.clear') }}
          {...form.getInputProps('service_account')}
        />
      )}
    </DialogForm>
  );
}

interface TokenValues {
  name: string;
  scopes: string[];
  expires_in_days: string;
  service_account: string | null;
}

function bodyOf({ name, scopes: chosen, expires_in_days, service_account }: TokenValues) {
  return {
    name,
    scopes: chosen as TokenScope[],
    expires_in_days: Number(expires_in_days),
    ...(service_account && { service_account }),
  };
}
