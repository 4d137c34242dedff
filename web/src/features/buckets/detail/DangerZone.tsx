import { Card, Text, Title } from '@mantine/core';
import { useId, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Bucket } from '@/lib/api/types';
import { Affected } from './Affected';
import classes from './DangerZone.module.css';

/** What ends a bucket's work, beneath whom it would hit now. */
export function DangerZone({ bucket, children }: { bucket: Bucket; children: ReactNode }) {
  const { t } = useTranslation();
  const id = useId();
  return (
    <Card withBorder padding="lg" component="section" aria-labelledby={id} className={classes.zone}>
      <Title order={2} size="h4" id={id} mb="xs">
        {t('settings.danger')}
      </Title>
      <Affected bucket={bucket} />
      <div style={{ marginTop: 'var(--mantine-spacing-md)' }}>{children}</div>
    </Card>
  );
}

interface DangerRowProps {
  title: string;
  description: ReactNode;
  children: ReactNode;
}

/** One drastic action: what it does, and its button. */
export function DangerRow({ title, description, children }: DangerRowProps) {
  return (
    <div className={classes.row}>
      <div className={classes.text}>
        <Title order={3} size="h5">
          {title}
        </Title>
        <Text size="sm" c="dimmed" component="div">
          {description}
        </Text>
      </div>
      {children}
    </div>
  );
}
