import { Anchor, Button, Card, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { Change } from '@/lib/api/types';
import { absoluteTime } from '@/lib/format/time';
import { useZone } from '@/lib/zone';
import { actionText } from '@/components/action-text';
import { ChangeDiff } from '@/components/ChangeDiff';
import { Copy } from '@/components/CodeBlock';
import { reasonText } from '@/components/reason-text';
import { RelativeTime } from '@/components/RelativeTime';

/** One row of the audit log; its difference opens beneath it. */
export const ChangeRow = memo(function ChangeRow({ change }: { change: Change }) {
  const { t } = useTranslation();
  const [opened, { toggle }] = useDisclosure();
  const hasDiff = change.before !== null || change.after !== null;
  const Chevron = opened ? IconChevronDown : IconChevronRight;
  return (
    <li>
      <Card withBorder padding="sm">
        <Group justify="space-between" gap="xs">
          <Text style={{ overflowWrap: 'anywhere' }}>
            <Text span fw={600}>
              {change.actor || t('audit.nobody')}
            </Text>{' '}
            · {actionText(change.action, t)} <Target change={change} />
            {change.revision > 0 && (
              <Text span c="dimmed" size="sm">
                {' '}
                {t('bucket.revision', { revision: change.revision })}
              </Text>
            )}
          </Text>
          <Text size="sm" c="dimmed">
            <RelativeTime at={change.at} />
          </Text>
        </Group>
        {change.reason && (
          <Text size="sm" mt={4} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
            <bdi>{reasonText(change, t)}</bdi>
          </Text>
        )}
        <Button
          size="compact-sm"
          variant="subtle"
          mt={4}
          w="fit-content"
          leftSection={<Chevron size={14} aria-hidden />}
          aria-expanded={opened}
          onClick={toggle}
        >
          {hasDiff ? t('audit.diff') : t('audit.details')}
        </Button>
        {opened && <Details change={change} hasDiff={hasDiff} />}
      </Card>
    </li>
  );
});

function Details({ change, hasDiff }: { change: Change; hasDiff: boolean }) {
  const { t, i18n } = useTranslation();
  const zone = useZone();
  return (
    <Stack gap="xs" mt="xs">
      {hasDiff && <ChangeDiff change={change} />}
      <Group gap="md">
        <Text size="sm" c="dimmed">
          {absoluteTime(new Date(change.at), i18n.language, zone)}
        </Text>
        {change.address && (
          <Text size="sm" c="dimmed">
            {t('audit.address', { address: change.address })}
          </Text>
        )}
        {change.request_id && (
          <Group gap={2}>
            <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              {t('state.requestId')} {change.request_id}
            </Text>
            <Copy value={change.request_id} what={t('state.requestId')} />
          </Group>
        )}
      </Group>
    </Stack>
  );
}

const pages: Record<string, string> = { bucket: '/buckets/', app: '/apps/' };

function Target({ change }: { change: Change }) {
  const { t } = useTranslation();
  if (!change.target || (change.target_kind === 'user' && change.target === change.actor)) return null;
  const page = pages[change.target_kind];
  return (
    <>
      {t(`kind.${change.target_kind}`, { defaultValue: change.target_kind })}{' '}
      {page && !change.action.endsWith('.delete') ? (
        <Anchor component={Link} to={page + encodeURIComponent(change.target)} underline="always">
          {change.target}
        </Anchor>
      ) : (
        <Text span fw={600}>
          {change.target}
        </Text>
      )}
    </>
  );
}

export function ChangeRowSkeleton() {
  return (
    <li aria-hidden>
      <Card withBorder padding="sm">
        <Skeleton height={16} width="60%" mb={8} />
        <Skeleton height={12} width="30%" />
      </Card>
    </li>
  );
}
