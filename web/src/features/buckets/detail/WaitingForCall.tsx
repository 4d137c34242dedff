import { Anchor, Card, Group, Loader, Stack, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useAppNames } from '@/lib/api/names';
import type { Bucket } from '@/lib/api/types';
import { allApps } from '@/lib/definition';
import { CodeBlock } from '@/components/CodeBlock';
import { goSnippet, tryCommand } from './snippets';

/** A call that runs, to begin with. */
export function WaitingForCall({ bucket }: { bucket: Bucket }) {
  const { t } = useTranslation();
  const seen = useAppNames('');
  const app = bucket.apps.find((name) => name !== allApps) ?? seen.data?.[0];
  const byCurl = bucket.may.edit && app !== undefined;
  const code = byCurl ? tryCommand(bucket, app, location.origin) : goSnippet(bucket, app ?? 'my-app');
  return (
    <Card withBorder padding="lg" mb="lg">
      <Stack gap="sm">
        <Group gap="sm">
          <Loader size="sm" aria-hidden />
          <Title order={2} size="h4">
            {t('firstCall.waiting')}
          </Title>
        </Group>
        {bucket.apps.length === 0 ? (
          <Text>{t('use.noApps')}</Text>
        ) : (
          <>
            <Text size="sm" c="dimmed">
              {byCurl ? t('firstCall.curl') : t('use.goText')}{' '}
              <Anchor component={Link} to={`/buckets/${bucket.name}/use`} inherit underline="always">
                {t('firstCall.more')}
              </Anchor>
            </Text>
            <CodeBlock label={t('firstCall.label')} code={code.trimEnd()} />
          </>
        )}
      </Stack>
    </Card>
  );
}
