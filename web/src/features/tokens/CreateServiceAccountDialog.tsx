import { Select, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useMe } from '@/lib/api/me';
import { hasCode } from '@/lib/api/problem';
import type { Role } from '@/lib/api/types';
import { isUserName } from '@/lib/rules';
import { useSimpleForm } from '@/lib/use-simple-form';
import { errorText } from '@/components/error-text';
import { DialogForm, FormDialog } from '@/components/FormDialog';
import { showDone } from '@/components/notify';
import { useCreateServiceAccount } from './api/service-accounts';

const roles = ['member', 'auditor', 'admin'] as const satisfies readonly Role[];

/** Makes an account that programs act as. */
export function CreateServiceAccountDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <FormDialog opened={opened} onClose={onClose} title={t('tokens.createAccount')}>
      <CreateServiceAccountForm onClose={onClose} />
    </FormDialog>
  );
}

function CreateServiceAccountForm({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const me = useMe();
  const create = useCreateServiceAccount();
  const { form, element, refusal, refused, onSubmit } = useSimpleForm({
    initialValues: { name: '', display_name: '', role: 'member' as Role },
    validate: { name: (name) => (isUserName(name) ? null : t('rule.userName')) },
  });
  const save = onSubmit((values) =>
    create.mutate(values, {
      onSuccess: (account) => {
        showDone(t('tokens.accountCreated', { name: account.name }), t);
        onClose();
      },
      onError: (error) => {
        if (hasCode(error, 'taken')) form.setFieldError('name', t('rule.taken'));
        else refused(error, errorText(error, t));
      },
    }),
  );
  return (
    <DialogForm
      ref={element}
      onSubmit={save}
      onCancel={onClose}
      submitLabel={t('tokens.createAccount')}
      saving={create.isPending}
      refusal={refusal}
      curl={() => ({ method: 'POST', path: '/service-accounts', body: form.getValues(), login: me.name })}
    >
      <TextInput
        label={t('field.name')}
        description={t('tokens.accountHint')}
        required
        data-autofocus
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        {...form.getInputProps('name')}
      />
      <TextInput label={t('field.display_name')} autoComplete="off" {...form.getInputProps('display_name')} />
      <Select
        label={t('field.role')}
        description={t(`roleMeaning.${form.values.role}`)}
        data={roles.map((role) => ({ value: role, label: t(`role.${role}`) }))}
        allowDeselect={false}
        {...form.getInputProps('role')}
      />
    </DialogForm>
  );
}
