import { SimpleGrid, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useMe } from '@/lib/api/me';
import { PageHeader } from '@/components/PageHeader';
import { NameForm } from './NameForm';
import { PasswordForm } from './PasswordForm';
import { PreferencesForm } from './PreferencesForm';
import { Sessions } from './Sessions';

/** One's own name, password, preferences and sessions. */
export function ProfilePage() {
  const { t } = useTranslation();
  const me = useMe();
  return (
    <>
      <PageHeader title={t('profile.title')} description={[me.name, t(`role.${me.role}`), t(`roleMeaning.${me.role}`)].join(' · ')} />
      <Stack gap="lg">
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
          <Stack gap="lg">
            <NameForm />
            <PreferencesForm />
          </Stack>
          <PasswordForm />
        </SimpleGrid>
        <Sessions />
      </Stack>
    </>
  );
}
