import { useTranslation } from 'react-i18next';
import { definitionFields, limitKind } from '@/lib/definition';
import { diffFields } from '@/lib/diff/fields';
import type { Change } from '@/lib/api/types';
import { showDefinitionValue } from './DefinitionValue';
import { FieldDiff } from './FieldDiff';

// What every change alters by itself, and what stands in the change row already.
const housekeeping = new Set(['revision', 'created_at', 'created_by', 'updated_at', 'updated_by', 'name', 'sync', 'may']);

const fieldOrder: readonly string[] = definitionFields;

/** The field differences of one change row. */
export function ChangeDiff({ change }: { change: Change }) {
  const { t, i18n } = useTranslation();
  const [before, after] = [asSnapshot(change.before), asSnapshot(change.after)];
  const context = limitKind(String((after ?? before)?.algorithm));
  const differences = diffFields(before, after, fieldOrder).filter(
    ({ field }) => !housekeeping.has(field),
  );
  return (
    <FieldDiff
      differences={differences}
      fieldLabel={(field) => t(`field.${field}`, { context, defaultValue: field })}
      showValue={(field, value) => showDefinitionValue(field, value, t, i18n.language)}
    />
  );
}

function asSnapshot(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
}
