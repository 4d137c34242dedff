import { Button, Code, Group, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import { IconAlertTriangle, IconCompass, IconLock, type Icon } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { ApiError } from '@/lib/api/problem';
import { usePageTitle } from '@/lib/page-title';
import { Copy } from './CodeBlock';
import { errorText } from './error-text';

interface StateProps {
  icon: Icon;
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
  /** The state is the whole page: its title is the page's heading. */
  page?: boolean;
  tone?: string;
}

/** A place with nothing to show: says why, and what to do next. */
export function State({ icon: StateIcon, title, children, actions, page = false, tone = 'water' }: StateProps) {
  return (
    <Stack align="center" gap="sm" py={48} px="md" ta="center" style={{ textWrap: 'balance' }}>
      <ThemeIcon size={56} radius="xl" variant="light" color={tone}>
        <StateIcon size={28} stroke={1.6} aria-hidden />
      </ThemeIcon>
      <Title order={page ? 1 : 2} size="h3">
        {title}
      </Title>
      {children}
      {actions && (
        <Group justify="center" mt="xs">
          {actions}
        </Group>
      )}
    </Stack>
  );
}

export function NotFoundState() {
  const { t } = useTranslation();
  usePageTitle(t('state.notFoundTitle'));
  return (
    <State icon={IconCompass} title={t('state.notFoundTitle')} page actions={<HomeButton />}>
      <Text c="dimmed" maw={480}>
        {t('state.notFoundText')}
      </Text>
    </State>
  );
}

/** A page that is not for the reader: what is missing, and whom to ask. */
export function ForbiddenState({ permission, text }: { permission?: string | undefined; text?: string }) {
  const { t } = useTranslation();
  usePageTitle(t('state.forbiddenTitle'));
  return (
    <State icon={IconLock} title={t('state.forbiddenTitle')} page actions={<HomeButton />}>
      <Text c="dimmed" maw={480}>
        {text ?? t('state.forbiddenText', { context: permission ? 'permission' : '', permission })}
      </Text>
    </State>
  );
}

function HomeButton() {
  const { t } = useTranslation();
  return (
    <Button component={Link} to="/buckets" variant="default">
      {t('state.home')}
    </Button>
  );
}

interface ErrorStateProps {
  error: unknown;
  onRetry?: () => void;
  /** It is the whole page: its title is the page's heading. */
  page?: boolean;
  /** Stands outside of the shell, so it brings its own main landmark. */
  standalone?: boolean;
}

/** Trouble while loading. "Not found" and "forbidden" get pages of their own. */
export function ErrorState({ error, onRetry, page = false, standalone = false }: ErrorStateProps) {
  const { t } = useTranslation();
  if (error instanceof ApiError && error.status === 404) return <NotFoundState />;
  if (error instanceof ApiError && error.status === 403) return <ForbiddenState permission={error.problem.permission} />;
  const content = (
    <State
      icon={IconAlertTriangle}
      tone="red"
      title={t('state.errorTitle')}
      page={page || standalone}
      actions={onRetry && <Button onClick={onRetry}>{t('common.retry')}</Button>}
    >
      <Text role="alert" maw={480}>
        {errorText(error, t, true)}
      </Text>
      <RequestId error={error} />
    </State>
  );
  return standalone ? <main>{content}</main> : content;
}

/** Under which id the server's log tells more about an error. */
export function RequestId({ error }: { error: unknown }) {
  const { t } = useTranslation();
  const id = error instanceof ApiError ? error.problem.request_id : undefined;
  if (!id) return null;
  return (
    <Group gap={2}>
      <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {t('state.requestId')} <Code>{id}</Code>
      </Text>
      <Copy value={id} what={t('state.requestId')} />
    </Group>
  );
}
