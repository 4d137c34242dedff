import { ActionIcon, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { memo, useId } from 'react';
import { useTranslation } from 'react-i18next';
import type { Change } from '@/lib/api/types';
import { absoluteTime } from '@/lib/format/time';
import { useZone } from '@/lib/zone';
import { ChangeDiff } from '@/components/ChangeDiff';
import { ChangeSentence } from '@/components/ChangeSentence';
import { Copy } from '@/components/CodeBlock';
import { reasonText } from '@/components/reason-text';
import { RelativeTime } from '@/components/RelativeTime';
import classes from './ChangeRow.module.css';

const skeletonRows = 12;

/** The rows of the audit log, newest first; undefined while they are loading. */
export function ChangeList({ changes }: { changes: readonly Change[] | undefined }) {
  const { t } = useTranslation();
  return (
    <ol className={classes.list} aria-label={t('audit.title')} aria-busy={!changes}>
      {changes
        ? changes.map((change) => <ChangeRow key={change.id} change={change} />)
        : Array.from({ length: skeletonRows }, (_, index) => <ChangeRowSkeleton key={index} />)}
    </ol>
  );
}

/** One row of the audit log; its difference opens beneath it. */
const ChangeRow = memo(function ChangeRow({ change }: { change: Change }) {
  const { t } = useTranslation();
  const [opened, { toggle }] = useDisclosure();
  const said = useId();
  const hasDiff = change.before !== null || change.after !== null;
  const Chevron = opened ? IconChevronDown : IconChevronRight;
  return (
    <li className={classes.row}>
      <ActionIcon
        variant="subtle"
        color="gray"
        c="inherit"
        aria-label={hasDiff ? t('audit.diff') : t('audit.details')}
        aria-describedby={said}
        aria-expanded={opened}
        onClick={toggle}
      >
        <Chevron size={16} aria-hidden />
      </ActionIcon>
      <div className={classes.line}>
        <Text size="sm" component="div" className={classes.said} style={{ overflowWrap: 'anywhere' }}>
          <span id={said}>
            <ChangeSentence change={change} />
          </span>
          {change.revision > 0 && (
            <Text span c="dimmed" inherit>
              {' · '}
              {t('bucket.revision', { revision: change.revision })}
            </Text>
          )}
          {change.reason && (
            <Text size="sm" c="dimmed" style={{ whiteSpace: 'pre-wrap' }}>
              <bdi>{reasonText(change, t)}</bdi>
            </Text>
          )}
        </Text>
        <Text size="sm" c="dimmed">
          <RelativeTime at={change.at} />
        </Text>
      </div>
      {opened && (
        <div className={classes.more}>
          <Details change={change} hasDiff={hasDiff} />
        </div>
      )}
    </li>
  );
});

function Details({ change, hasDiff }: { change: Change; hasDiff: boolean }) {
  const { t, i18n } = useTranslation();
  const zone = useZone();
  return (
    <Stack gap="xs" py="xs">
      {hasDiff && <ChangeDiff change={change} />}
      <Group gap="md" style={{ rowGap: 0 }}>
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

function ChangeRowSkeleton() {
  return (
    <li aria-hidden className={classes.row}>
      <Skeleton height={16} width={16} m={6} />
      <div className={classes.line}>
        <Skeleton height={14} width="45%" my={5} />
        <Skeleton height={14} width={80} my={5} />
      </div>
    </li>
  );
}
