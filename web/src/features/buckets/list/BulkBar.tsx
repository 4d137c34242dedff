import { Button, Group, Paper, Text } from '@mantine/core';
import { IconEdit } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { showError, showPending } from '@/components/notify';
import { bulkMost, useAllMatching } from '@/features/buckets/api/bulk';
import type { BucketListQuery } from '@/features/buckets/api/list';
import classes from './BulkBar.module.css';
import type { Selection } from './use-selection';

interface BulkBarProps {
  selection: Selection;
  query: BucketListQuery;
  /** The list has other pages. */
  paged: boolean;
  onEdit: () => void;
}

/** How many rows are picked, and what can be done with them. */
export function BulkBar({ selection, query, paged, onEdit }: BulkBarProps) {
  const { t } = useTranslation();
  const matching = useAllMatching();
  const count = selection.chosen.size;
  const selectAll = () =>
    matching.mutate(
      { ...query, cursor: '' },
      {
        onSuccess: ({ buckets, more }) => {
          selection.replace(buckets);
          if (more) showPending(t('bulk.most', { max: bulkMost }), t);
        },
        onError: (error) => showError(error, t),
      },
    );
  if (count === 0) return null;
  return (
    <Paper withBorder className={classes.bar} role="region" aria-label={t('bulk.region')}>
      <Group gap="sm" justify="space-between">
        <Text fw={600} role="status">
          {t('bulk.selected', { count })}
        </Text>
        <Group gap="xs">
          {paged && (
            <Button variant="subtle" size="xs" loading={matching.isPending} onClick={selectAll}>
              {t('bulk.selectAll')}
            </Button>
          )}
          <Button variant="default" size="xs" onClick={selection.clear}>
            {t('bulk.clear')}
          </Button>
          <Button size="xs" leftSection={<IconEdit size={16} aria-hidden />} onClick={onEdit}>
            {t('bulk.edit')}
          </Button>
        </Group>
      </Group>
    </Paper>
  );
}
