import { Button, Group } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, unwrap } from '@/lib/api/client';
import { showError } from '@/components/notify';

type Filters = Record<string, string>;

const formats = ['csv', 'jsonl'] as const;

/** Hands the log out as a file, under the filters of the page. */
export function ExportMenu({ filters }: { filters: Filters }) {
  const { t } = useTranslation();
  const [busy, setBusy] = useState(false);

  async function download(format: string) {
    setBusy(true);
    try {
      await unwrap(api.GET('/api/v1/auth/me')); // renews the session where it is due: the browser fetches the file itself
      const given = Object.entries(filters).filter(([, value]) => value !== '');
      const link = document.createElement('a');
      link.href = `/api/v1/export/changes?${new URLSearchParams([['format', format], ...given]).toString()}`;
      link.download = ''; // the server names the file
      link.click();
    } catch (error) {
      showError(error, t);
    } finally {
      setBusy(false);
    }
  }

  return (
    <Group gap="xs">
      {formats.map((format) => (
        <Button
          key={format}
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
          disabled={busy}
          onClick={() => void download(format)}
        >
          {t(`audit.export_${format}`)}
        </Button>
      ))}
    </Group>
  );
}
