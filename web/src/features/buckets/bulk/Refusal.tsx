import { Alert, Button, List, ScrollArea, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { ApiError } from '@/lib/api/problem';
import { errorText } from '@/components/error-text';
import { faultText } from './fault-text';

interface RefusalProps {
  error: unknown;
  /** The field errors that stand at no input, in words. */
  fields: readonly string[];
  /** Takes the buckets that stand in the way out of the selection. */
  onDrop: (names: readonly string[]) => void;
}

/** Why nothing was changed: each bucket that stands in the way, or each field that breaks a rule. */
export function Refusal({ error, fields, onDrop }: RefusalProps) {
  const { t } = useTranslation();
  if (!error) return null;
  const problem = error instanceof ApiError ? error.problem : undefined;
  const faults = problem?.buckets ?? [];
  return (
    <Alert color="red" role="alert" title={faults.length > 0 ? t('bulk.refused', { count: faults.length }) : undefined}>
      {faults.length === 0 && <Text size="sm">{errorText(error, t)}</Text>}
      <ScrollArea.Autosize mah={200} viewportProps={{ tabIndex: 0 }}>
        <List size="sm">
          {faults.map((fault) => (
            <List.Item key={fault.name}>
              <strong>{fault.name}</strong>: {faultText(fault, t)}
            </List.Item>
          ))}
          {fields.map((fault) => (
            <List.Item key={fault}>{fault}</List.Item>
          ))}
        </List>
      </ScrollArea.Autosize>
      {faults.length > 0 && (
        <Button mt="sm" size="xs" variant="default" onClick={() => onDrop(faults.map(({ name }) => name))}>
          {t('bulk.drop')}
        </Button>
      )}
    </Alert>
  );
}
