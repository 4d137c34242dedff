import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useSearchParams } from 'react-router';
import { can, useMe } from '@/lib/api/me';
import type { Bucket } from '@/lib/api/types';
import { ActionButton } from '@/components/ActionButton';
import type { Column } from '@/components/DataTable';
import { ExportMenu } from '@/components/ExportMenu';
import { PageHeader } from '@/components/PageHeader';
import { bucketListQuery } from '@/features/buckets/api/list';
import { ColumnsMenu } from './ColumnsMenu';

interface ListHeaderProps {
  columns: readonly Column<Bucket>[];
  hidden: readonly string[];
  onToggle: (id: string) => void;
}

/** What stands over the list. An answer with other rows does not draw it anew. */
export const ListHeader = memo(function ListHeader({ columns, hidden, onToggle }: ListHeaderProps) {
  const { t } = useTranslation();
  const me = useMe();
  const [params] = useSearchParams();
  const { search, app, owner, mode, label, sync } = bucketListQuery(params);
  return (
    <PageHeader
      title={t('buckets.title')}
      description={t('buckets.description')}
      actions={
        <>
          <ColumnsMenu columns={columns} hidden={hidden} onToggle={onToggle} />
          <ExportMenu path="/api/v1/export/buckets" formats={['csv', 'jsonl']} filters={{ search, app, owner, mode, label, sync }} />
          <Button component={Link} to="/deleted" variant="default">
            {t('deleted.title')}
          </Button>
          <ActionButton
            to="/create/bucket"
            leftSection={<IconPlus size={18} aria-hidden />}
            denied={can(me, 'bucket.create') ? undefined : t('denied.createBucket')}
          >
            {t('buckets.create')}
          </ActionButton>
        </>
      }
    />
  );
});
