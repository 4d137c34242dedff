import { Button, Group, Text } from '@mantine/core';
import type { TFunction } from 'i18next';
import { hideNotice, showNotice } from './notices';

/** Says that something was done, and offers to take it back for as long as the notice stands. */
export function showUndoable(message: string, t: TFunction, undo?: () => void): void {
  const id = crypto.getRandomValues(new Uint32Array(2)).join('-');
  function takeBack() {
    hideNotice(id);
    undo?.();
  }
  showNotice({
    id,
    color: 'teal',
    autoClose: 10_000,
    closeButtonProps: { 'aria-label': t('common.close') },
    message: (
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {message}
        </Text>
        {undo && (
          <Button size="compact-sm" variant="light" onClick={takeBack}>
            {t('common.undo')}
          </Button>
        )}
      </Group>
    ),
  });
}
