import { Alert, Stack, Tabs, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Bucket } from '@/lib/api/types';
import { useAppNames } from '@/lib/api/names';
import { allApps, isKeyed, limitKind } from '@/lib/definition';
import { CodeBlock } from '@/components/CodeBlock';
import { Section } from '@/components/Section';
import { AppSelect } from './AppSelect';
import { goSnippet, liveCommand, loadCommand, middlewareSnippet, tryCommand } from './snippets';
import { TryAcquire } from './TryAcquire';

/** How to acquire from this bucket: code, commands, and a try. */
export function UseTab({ bucket }: { bucket: Bucket }) {
  const { t } = useTranslation();
  const every = bucket.apps.includes(allApps);
  const names = useAppNames('');
  const apps = every ? (names.data ?? []) : bucket.apps;
  const [chosen, setChosen] = useState<string | null>(null);
  const app = chosen ?? apps[0] ?? 'my-app';
  return (
    <Stack gap="lg">
      {!every && bucket.apps.length === 0 && <Alert color="orange">{t('use.noApps')}</Alert>}
      {apps.length > 1 && (
        <AppSelect bucket={bucket} value={app} onChange={setChosen} maw={320} />
      )}
      <Snippets bucket={bucket} app={app} />
      <TryAcquire key={app} bucket={bucket} apps={apps} app={app} />
    </Stack>
  );
}

interface Snippet {
  id: string;
  title: string;
  text: string;
  code: string;
}

function Snippets({ bucket, app }: { bucket: Bucket; app: string }) {
  const { t } = useTranslation();
  const keyed = isKeyed(bucket.partition);
  const middleware = middlewareSnippet(bucket);
  const load = loadCommand(bucket, app);
  const goText = [t('use.goText'), keyed && t('use.key'), limitKind(bucket.algorithm) === 'slots' && t('use.enter')];
  const snippets: Snippet[] = [{ id: 'go', title: t('use.go'), text: goText.filter(Boolean).join(' '), code: goSnippet(bucket, app) }];
  if (middleware) {
    const text = [t('use.middlewareText'), keyed && t('use.header')].filter(Boolean).join(' ');
    snippets.push({ id: 'middleware', title: t('use.middleware'), text, code: middleware });
  }
  snippets.push({ id: 'live', title: t('use.live'), text: t('use.tokenText'), code: liveCommand(bucket, location.origin) });
  snippets.push({ id: 'try', title: t('use.try'), text: `${t('use.tokenText')} ${t('use.tryText')}`, code: tryCommand(bucket, app, location.origin) });
  if (load) snippets.push({ id: 'load', title: t('use.load'), text: t('use.loadText'), code: load });
  return (
    <Section title={t('use.title')}>
      <Tabs defaultValue="go" keepMounted={false} variant="pills">
        <Tabs.List mb="md" aria-label={t('use.title')}>
          {snippets.map(({ id, title }) => (
            <Tabs.Tab key={id} value={id}>
              {title}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {snippets.map(({ id, title, text, code }) => (
          <Tabs.Panel key={id} value={id}>
            <Text size="sm" c="dimmed" mb="sm">
              {text}
            </Text>
            <CodeBlock label={title} code={code.trimEnd()} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Section>
  );
}
