import { Button, Stack, Text } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';

interface SignOnButtonProps {
  name: string;
  url: string;
  available: boolean;
  /** The page of this console to end at. */
  returnTo: string;
  /** It is the only way in, so it stands out. */
  only: boolean;
}

/** Leads to the provider of single sign-on. It is a link, since the way back begins at another site. */
export function SignOnButton({ name, url, available, returnTo, only }: SignOnButtonProps) {
  const { t } = useTranslation();
  return (
    <Stack gap="xs">
      <Button
        component="a"
        href={`${url}?return_to=${encodeURIComponent(returnTo)}`}
        variant={only ? 'filled' : 'default'}
        leftSection={<IconKey size={18} aria-hidden />}
        fullWidth
      >
        {t('signOn.button', { name })}
      </Button>
      {!available && (
        <Text size="sm" c="dimmed" role="status">
          {t('signOn.away', { name })}
        </Text>
      )}
    </Stack>
  );
}
