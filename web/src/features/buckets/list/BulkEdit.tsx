import { lazy, Suspense, useEffect, useState } from 'react';
import { useUrlDialog } from '@/lib/url-dialog';
import type { BucketListQuery } from '@/features/buckets/api/list';
import type { BulkDraft } from '@/features/buckets/bulk/change';
import { BulkBar } from './BulkBar';
import type { Selection } from './use-selection';

const BulkDialog = lazy(() => import('@/features/buckets/bulk/BulkDialog'));

interface BulkEditProps {
  selection: Selection;
  query: BucketListQuery;
  paged: boolean;
  /** What was being done when the session ended. */
  draft: Partial<BulkDraft> | undefined;
}

/** What is done with the picked rows: the bar, and the dialog once it was asked for. */
export function BulkEdit({ selection, query, paged, draft }: BulkEditProps) {
  const [opened, { open, close }] = useUrlDialog('bulk');
  const [asked, setAsked] = useState(opened);
  const [kept, setKept] = useState(draft);
  const [saved, setSaved] = useState(false);
  const nothing = selection.chosen.size === 0;

  // A reload forgets what was picked.
  useEffect(() => {
    if (opened && nothing) close();
  }, [opened, nothing, close]);

  function start() {
    setKept(undefined);
    setAsked(true);
    open();
  }

  return (
    <>
      <BulkBar selection={selection} query={query} paged={paged} onEdit={start} />
      <Suspense>
        {asked && (
          <BulkDialog
            opened={opened && !nothing}
            onClose={close}
            // The picks stay until the dialog is gone: it still shows them.
            onClosed={() => {
              if (saved) selection.clear();
              setSaved(false);
            }}
            buckets={[...selection.chosen.values()]}
            draft={kept}
            onDrop={selection.drop}
            onDone={() => {
              setSaved(true);
              close();
            }}
          />
        )}
      </Suspense>
    </>
  );
}
