import { Group, Text } from '@mantine/core';

/** Names a line of a chart by its stroke as well as by its colour. */
export function LineEntry({ color, dash, label }: { color: string; dash: string; label: string }) {
  return (
    <Group gap={6} wrap="nowrap">
      <svg width="22" height="8" aria-hidden>
        <line x1="0" y1="4" x2="22" y2="4" stroke={color} strokeWidth="2.5" strokeDasharray={dash} />
      </svg>
      <Text size="sm">{label}</Text>
    </Group>
  );
}
