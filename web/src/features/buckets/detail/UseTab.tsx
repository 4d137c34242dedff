import { Alert, Select, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Bucket } from '@/lib/api/types';
import { useAppNames } from '@/lib/api/names';
import { allApps, isKeyed, limitKind } from '@/lib/definition';
import { CodeBlock } from '@/components/CodeBlock';
import { goSnippet, loadCommand } from './snippets';

/** Snippets that acquire from this bucket. */
export function UseTab({ bucket }: { bucket: Bucket }) {
  const { t } = useTranslation();
  const every = bucket.apps.includes(allApps);
  const names = useAppNames('');
  const apps = every ? (names.data ?? []) : bucket.apps;
  const [chosen, setChosen] = useState<string | null>(null);
  const app = chosen ?? apps[0] ?? 'my-app';
  const load = loadCommand(bucket, app);
  return (
    <Stack gap="lg">
      {!every && bucket.apps.length === 0 && <Alert color="orange">{t('use.noApps')}</Alert>}
      {apps.length > 1 && (
        <Select
          label={t('use.app')}
          data={apps}
          value={app}
          onChange={setChosen}
          allowDeselect={false}
          searchable
          maw={320}
        />
      )}
      <section>
        <Title order={2} size="h4" mb={4}>
          {t('use.go')}
        </Title>
        <Text size="sm" c="dimmed" mb="sm">
          {t('use.goText')} {isKeyed(bucket.partition) && t('use.key')} {limitKind(bucket.algorithm) === 'slots' && t('use.enter')}
        </Text>
        <CodeBlock label={t('use.go')} code={goSnippet(bucket, app)} />
      </section>
      {load && (
        <section>
          <Title order={2} size="h4" mb={4}>
            {t('use.load')}
          </Title>
          <Text size="sm" c="dimmed" mb="sm">
            {t('use.loadText')}
          </Text>
          <CodeBlock label={t('use.load')} code={load} />
        </section>
      )}
    </Stack>
  );
}
