import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';

interface FigureProps {
  label: string;
  unit: string;
  value: ReactNode;
  testId: string;
}

/** One number that people look for first. */
export function Figure({ label, unit, value, testId }: FigureProps) {
  return (
    <Stack gap={2}>
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text>
        <Text span fw={700} size="xl" data-testid={testId} style={{ fontVariantNumeric: 'tabular-nums' }}>
          {value}
        </Text>{' '}
        <Text span size="sm" c="dimmed">
          {unit}
        </Text>
      </Text>
    </Stack>
  );
}
