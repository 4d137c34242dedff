import { Box, Skeleton, Text } from '@mantine/core';
import { useEffect, useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { hasCode } from '@/lib/api/problem';
import { errorText } from './error-text';
import { FormDialog } from './FormDialog';

/** Of which record a dialog is open: it may be opened by its address alone, for one that is not on the page of the list. */
export interface Asked<Row> {
  /** What it is called in the address; null while the dialog is closed. */
  name: string | null;
  record: Row | undefined;
  error: unknown;
}

interface RecordDialogProps<Row> {
  of: Asked<Row>;
  title: string;
  /** What is said where there is no such record. */
  none: string;
  onClose: () => void;
  children: (record: Row) => ReactNode;
}

/** A dialog around a form about one record. */
export function RecordDialog<Row>({ of: { name, record, error }, title, none, onClose, children }: RecordDialogProps<Row>) {
  const { t } = useTranslation();
  return (
    <FormDialog opened={name !== null} onClose={onClose} title={title}>
      {name === null ? null : record ? (
        <Arrived>{children(record)}</Arrived>
      ) : error ? (
        <Text role="alert">{hasCode(error, 'not_found') ? none : errorText(error, t)}</Text>
      ) : (
        <Skeleton h={160} />
      )}
    </FormDialog>
  );
}

/** A form that comes after its dialog takes the focus from the dialog's frame, as one does that comes with it. */
function Arrived({ children }: { children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!box.current?.contains(document.activeElement)) box.current?.querySelector<HTMLElement>('[data-autofocus]')?.focus();
  }, []);
  return <Box ref={box}>{children}</Box>;
}
