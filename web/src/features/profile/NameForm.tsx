import { Alert, Button, Stack, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useMe } from '@/lib/api/me';
import { characters } from '@/lib/rules';
import { useSimpleForm } from '@/lib/use-simple-form';
import { errorText } from '@/components/error-text';
import { showDone } from '@/components/notify';
import { Section } from '@/components/Section';
import { useSaveName } from './api/profile';

const longest = 100; // characters

/** How one is called in the console. */
export function NameForm() {
  const { t } = useTranslation();
  const me = useMe();
  const save = useSaveName();
  const { form, element, refusal, refused, onSubmit } = useSimpleForm({
    initialValues: { display_name: me.display_name },
    validate: { display_name: (name) => (characters(name) <= longest ? null : t('rule.text', { max: longest })) },
  });
  const submit = onSubmit(({ display_name }) =>
    save.mutate(display_name.trim(), {
      onSuccess: () => {
        form.resetDirty();
        showDone(t('profile.nameSaved'), t);
      },
      onError: (error) => refused(error, errorText(error, t)),
    }),
  );
  return (
    <Section title={t('profile.account')}>
      <form ref={element} onSubmit={submit} noValidate>
        <Stack>
          <TextInput label={t('field.display_name')} description={t('profile.nameHint')} autoComplete="name" {...form.getInputProps('display_name')} />
          {refusal.length > 0 && (
            <Alert color="red" role="alert">
              {refusal.join(' ')}
            </Alert>
          )}
          <Button type="submit" w="fit-content" loading={save.isPending} disabled={!form.isDirty()}>
            {t('common.save')}
          </Button>
        </Stack>
      </form>
    </Section>
  );
}
