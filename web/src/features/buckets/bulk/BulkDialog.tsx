import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Bucket } from '@/lib/api/types';
import { equal } from '@/lib/diff/fields';
import { useOpenForm } from '@/lib/unsaved';
import { FormDialog } from '@/components/FormDialog';
import { useBulkPreview } from '@/features/buckets/api/bulk';
import { placeBulkErrors, toChange, unchanged, type BulkDraft } from './change';
import { ChooseForm } from './ChooseForm';
import { Refusal } from './Refusal';
import { ReviewStep } from './ReviewStep';

interface BulkDialogProps {
  opened: boolean;
  onClose: () => void;
  /** Called when the dialog is gone. */
  onClosed: () => void;
  buckets: readonly Bucket[];
  /** What had been typed when the session ended. */
  draft: Partial<BulkDraft> | undefined;
  /** Takes buckets out of the selection. */
  onDrop: (names: readonly string[]) => void;
  /** Called when it is saved. */
  onDone: () => void;
}

/** Changes many buckets at once: choose, see what differs, say why. */
export default function BulkDialog({ opened, onClose, onClosed, ...rest }: BulkDialogProps) {
  const { t } = useTranslation();
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={onClosed}
      title={t('bulk.title', { count: rest.buckets.length })}
      size="xl"
    >
      <Steps onClose={onClose} {...rest} />
    </FormDialog>
  );
}

function Steps({ buckets, draft, onClose, onDrop, onDone }: Omit<BulkDialogProps, 'opened' | 'onClosed'>) {
  const [values, setValues] = useState(draft?.edit ?? unchanged);
  const [reason, setReason] = useState(draft?.why ?? '');
  const preview = useBulkPreview();
  const { placed, rest } = placeBulkErrors(preview.error);
  const done = useRef(false);
  const typed = () => !done.current && (!equal(values, unchanged) || reason.trim() !== '');
  useOpenForm({
    dirty: typed,
    keep: () => (typed() ? { id: 'bulk', values: { buckets, edit: values, why: reason } satisfies BulkDraft } : null),
  });

  function drop(names: readonly string[]) {
    onDrop(names);
    preview.reset();
  }

  if (preview.data) {
    return (
      <ReviewStep
        buckets={buckets}
        change={toChange(values)}
        preview={preview.data}
        reason={reason}
        onReason={setReason}
        onBack={preview.reset}
        onDone={() => {
          done.current = true;
          onDone();
        }}
        onDrop={drop}
      />
    );
  }
  return (
    <ChooseForm
      buckets={buckets}
      values={values}
      onChange={setValues}
      onSubmit={() => preview.mutate({ buckets, change: toChange(values) })}
      onCancel={onClose}
      asking={preview.isPending}
      refused={placed}
    >
      {(rest.length > 0 || Object.keys(placed).length === 0) && <Refusal error={preview.error} fields={rest} onDrop={drop} />}
    </ChooseForm>
  );
}
