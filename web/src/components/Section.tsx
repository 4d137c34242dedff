import { Card, Group, Text, Title } from '@mantine/core';
import { useId, type ReactNode } from 'react';

interface SectionProps {
  title: string;
  description?: ReactNode;
  /** At the end of the title's line. */
  actions?: ReactNode;
  children: ReactNode;
}

/** A titled card, a landmark of its page. */
export function Section({ title, description, actions, children }: SectionProps) {
  const id = useId();
  return (
    <Card withBorder padding="lg" component="section" aria-labelledby={id} style={{ overflow: 'visible' }}>
      <Group justify="space-between" gap="sm" mb={description ? 4 : 'sm'}>
        <Title order={2} size="h4" id={id}>
          {title}
        </Title>
        {actions}
      </Group>
      {description && (
        <Text size="sm" c="dimmed" mb="md" component="div">
          {description}
        </Text>
      )}
      {children}
    </Card>
  );
}
