import { Button, Menu } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, unwrap } from '@/lib/api/client';
import { showError } from './notify';

interface ExportMenuProps {
  /** The route that hands out the file. */
  path: '/api/v1/export/changes' | '/api/v1/export/buckets';
  formats: readonly ('csv' | 'jsonl')[];
  /** The filters of the page; "" stands for none. */
  filters: Readonly<Record<string, string>>;
}

/** Hands a list out as a file, under the filters of its page. */
export function ExportMenu({ path, formats, filters }: ExportMenuProps) {
  const { t } = useTranslation();
  const [busy, setBusy] = useState(false);

  async function download(format: string) {
    setBusy(true);
    try {
      await unwrap(api.GET('/api/v1/auth/me')); // renews the session where it is due: the browser fetches the file itself
      const given = Object.entries(filters).filter(([, value]) => value !== '');
      const link = document.createElement('a');
      link.href = `${path}?${new URLSearchParams([['format', format], ...given]).toString()}`;
      link.download = ''; // the server names the file
      link.click();
    } catch (error) {
      showError(error, t);
    } finally {
      setBusy(false);
    }
  }

  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<IconDownload size={16} aria-hidden />} loading={busy}>
          {t('export.title')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {formats.map((format) => (
          <Menu.Item key={format} onClick={() => void download(format)}>
            {t(`export.${format}`)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
