import { useTranslation } from 'react-i18next';
import { definitionFields, limitKind } from '@/lib/definition';
import { diffFields, type FieldDifference } from '@/lib/diff/fields';
import type { Change } from '@/lib/api/types';
import { useZone } from '@/lib/zone';
import { showChangeValue } from './ChangeValue';
import { FieldDiff } from './FieldDiff';

// What every change alters by itself, and what stands in the change row already.
const housekeeping = new Set(['revision', 'created_at', 'created_by', 'updated_at', 'updated_by', 'sync', 'may']);

const fieldOrder: readonly string[] = definitionFields;

/** The field differences of one change row. */
export function ChangeDiff({ change }: { change: Change }) {
  const { t, i18n } = useTranslation();
  const zone = useZone();
  const [before, after] = [asSnapshot(change.before), asSnapshot(change.after)];
  const context = limitKind(String((after ?? before)?.algorithm));
  const differences = diffFields(before, after, fieldOrder).filter(
    (one) => !housekeeping.has(one.field) && !isSaidAlready(one, change),
  );
  return (
    <FieldDiff
      differences={differences}
      fieldLabel={(field) => t(`field.${field}`, { context, defaultValue: field })}
      showValue={(field, value) => showChangeValue(field, value, { t, language: i18n.language, zone })}
    />
  );
}

/** The name of what was changed stands in the row's own line; a token's, and one that was changed, do not. */
function isSaidAlready({ field, before, after }: FieldDifference, { target }: Change): boolean {
  return field === 'name' && [before, after].every((name) => name === undefined || name === target);
}

function asSnapshot(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
}
