import { Anchor, Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { usePageTitle } from '@/lib/page-title';
import { Copy } from './CodeBlock';

interface PageHeaderProps {
  title: string;
  /** The title is a name that people copy. */
  copy?: boolean;
  /** Words beneath the title. */
  description?: ReactNode;
  /** Beside the title: badges. */
  badges?: ReactNode;
  actions?: ReactNode;
  /** The page above this one. */
  up?: { to: string; label: string };
}

const longest = 48; // characters; a longer name would fill a phone's screen in the size of a heading

const roomy = { size: 'h2', style: { overflowWrap: 'anywhere' } } as const;
const tight = { size: 'h4', style: { wordBreak: 'break-all' } } as const;

/** The heading of a page; also names the browser's tab. */
export function PageHeader({ title, copy = false, description, badges, actions, up }: PageHeaderProps) {
  usePageTitle(title);
  return (
    <Stack gap={4} mb="lg">
      {up && (
        <Anchor component={Link} to={up.to} size="sm" w="fit-content">
          <span aria-hidden>‹ </span>
          {up.label}
        </Anchor>
      )}
      <Group justify="space-between" align="flex-start" gap="sm">
        <Stack gap={4} style={{ minWidth: 0, flex: '1 1 20rem' }}>
          <Group gap="sm" style={{ minWidth: 0 }}>
            <Title order={1} {...(title.length > longest ? tight : roomy)}>
              {title}
            </Title>
            {copy && <Copy value={title} what={title} />}
            {badges && <Group gap="xs">{badges}</Group>}
          </Group>
          {description && (
            <Text c="dimmed" component="div" style={{ textWrap: 'pretty' }}>
              {description}
            </Text>
          )}
        </Stack>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
    </Stack>
  );
}
