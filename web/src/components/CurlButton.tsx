import { Button } from '@mantine/core';
import { IconTerminal2 } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { copyText } from '@/lib/copy';
import { curlCommand, type ApiCall } from '@/lib/curl';
import { showDone, showError } from './notify';
import classes from './CurlButton.module.css';

/** Copies the request that a form makes as a command for the shell, and says what that takes. */
export function CurlButton({ call, disabled = false }: { call: () => ApiCall; disabled?: boolean }) {
  const { t } = useTranslation();

  async function copy() {
    const made = call();
    try {
      await copyText(curlCommand(made, location.origin));
    } catch (error) {
      showError(error, t);
      return;
    }
    const variables = [made.login === undefined ? 'HEADGATE_TOKEN' : 'HEADGATE_PASSWORD', ...Object.values(made.secrets ?? {})];
    showDone(t(made.login === undefined ? 'curl.copied' : 'curl.copiedLogin', { variables: variables.join(', ') }), t);
  }

  return (
    <Button
      variant="subtle"
      color="gray"
      {...(disabled ? { bg: 'transparent' } : { c: 'inherit' })}
      me="auto"
      px="xs"
      classNames={{ section: classes.icon, label: classes.text }}
      leftSection={<IconTerminal2 size={16} aria-hidden />}
      onClick={() => void copy()}
      disabled={disabled}
    >
      {t('curl.copy')}
    </Button>
  );
}
