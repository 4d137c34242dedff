import { lazy, Suspense, useState } from 'react';
import type { BucketListQuery } from '@/features/buckets/api/list';
import { BulkBar } from './BulkBar';
import type { Selection } from './use-selection';

const BulkDialog = lazy(() => import('@/features/buckets/bulk/BulkDialog'));

interface BulkEditProps {
  selection: Selection;
  query: BucketListQuery;
  paged: boolean;
}

/** What is done with the picked rows: the bar, and the dialog once it was asked for. */
export function BulkEdit({ selection, query, paged }: BulkEditProps) {
  const [asked, setAsked] = useState(false);
  const [opened, setOpened] = useState(false);
  const [saved, setSaved] = useState(false);

  function open() {
    setAsked(true);
    setOpened(true);
  }

  function drop(names: readonly string[]) {
    selection.drop(names);
    if ([...selection.chosen.keys()].every((name) => names.includes(name))) setOpened(false);
  }

  return (
    <>
      <BulkBar selection={selection} query={query} paged={paged} onEdit={open} />
      <Suspense>
        {asked && (
          <BulkDialog
            opened={opened}
            onClose={() => setOpened(false)}
            // The picks stay until the dialog is gone: it still shows them.
            onClosed={() => {
              if (saved) selection.clear();
              setSaved(false);
            }}
            buckets={[...selection.chosen.values()]}
            onDrop={drop}
            onDone={() => {
              setSaved(true);
              setOpened(false);
            }}
          />
        )}
      </Suspense>
    </>
  );
}
