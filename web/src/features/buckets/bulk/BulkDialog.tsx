import { Modal } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Bucket } from '@/lib/api/types';
import { useBulkPreview } from '@/features/buckets/api/bulk';
import { toChange, unchanged } from './change';
import { ChooseForm } from './ChooseForm';
import { Refusal } from './Refusal';
import { ReviewStep } from './ReviewStep';

interface BulkDialogProps {
  opened: boolean;
  onClose: () => void;
  /** Called when the dialog is gone. */
  onClosed: () => void;
  buckets: readonly Bucket[];
  /** Takes buckets out of the selection. */
  onDrop: (names: readonly string[]) => void;
  /** Called when it is saved. */
  onDone: () => void;
}

/** Changes many buckets at once: choose, see what differs, say why. */
export default function BulkDialog({ opened, onClose, onClosed, ...rest }: BulkDialogProps) {
  const { t } = useTranslation();
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={onClosed}
      title={t('bulk.title', { count: rest.buckets.length })}
      size="xl"
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <Steps onClose={onClose} {...rest} />
    </Modal>
  );
}

function Steps({ buckets, onClose, onDrop, onDone }: Omit<BulkDialogProps, 'opened' | 'onClosed'>) {
  const [values, setValues] = useState(unchanged);
  const preview = useBulkPreview();
  if (preview.data) {
    return (
      <ReviewStep
        buckets={buckets}
        change={toChange(values)}
        preview={preview.data}
        onBack={preview.reset}
        onDone={onDone}
        onDrop={(names) => {
          onDrop(names);
          preview.reset();
        }}
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
    >
      <Refusal
        error={preview.error}
        onDrop={(names) => {
          onDrop(names);
          preview.reset();
        }}
      />
    </ChooseForm>
  );
}
