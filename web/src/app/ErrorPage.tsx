import { Button, Stack, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';

/** Shown when a page fails in the browser, for example because its code could not be loaded after an upgrade. */
export function ErrorPage() {
  const { t } = useTranslation();
  return (
    <Stack component="main" align="flex-start" p="xl" maw={560}>
      <Title order={1} size="h2">
        {t('state.brokenTitle')}
      </Title>
      <Text>{t('state.brokenText')}</Text>
      <Button onClick={() => location.reload()}>{t('common.reload')}</Button>
    </Stack>
  );
}
