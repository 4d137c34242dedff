import { Alert, Anchor, Card, Group, Loader, Stack, Text, Title } from '@mantine/core';
import { IconCircleCheck } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { Bucket } from '@/lib/api/types';
import { useAppNames } from '@/lib/api/names';
import { allApps } from '@/lib/definition';
import { CodeBlock } from '@/components/CodeBlock';
import { useCalled } from '@/features/buckets/api/first-call';
import { goSnippet, tryCommand } from './snippets';

/** While nobody has called the bucket yet: a call that runs, and whether it has come. */
export function FirstCall({ bucket }: { bucket: Bucket }) {
  const { data: called } = useCalled(bucket.name);
  const [waited, setWaited] = useState(false);
  if (called === false && !waited) setWaited(true);
  return <div role="status">{called === false ? <Waiting bucket={bucket} /> : called && waited && <Received />}</div>;
}

function Waiting({ bucket }: { bucket: Bucket }) {
  const { t } = useTranslation();
  const seen = useAppNames('');
  const app = bucket.apps.find((name) => name !== allApps) ?? seen.data?.[0];
  const byCurl = bucket.may.edit && app !== undefined;
  const code = byCurl ? tryCommand(bucket, app, location.origin) : goSnippet(bucket, app ?? 'my-app');
  return (
    <Card withBorder padding="lg">
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

function Received() {
  const { t } = useTranslation();
  return (
    <Alert color="teal" icon={<IconCircleCheck aria-hidden />} title={t('firstCall.received')}>
      {t('firstCall.receivedText')}
    </Alert>
  );
}
