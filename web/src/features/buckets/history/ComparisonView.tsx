import { Skeleton, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Comparison } from '@/lib/api/types';
import { definitionFields, limitKind } from '@/lib/definition';
import { showDefinitionValue } from '@/components/DefinitionValue';
import { errorText } from '@/components/error-text';
import { FieldDiff } from '@/components/FieldDiff';
import { useComparison } from '@/features/buckets/api/history';

/** What one revision changes into another. */
export function ComparisonView({ name, from, to }: { name: string; from: number; to: number }) {
  const { t } = useTranslation();
  const comparison = useComparison(name, from, to);
  if (comparison.data) return <Differences comparison={comparison.data} />;
  if (comparison.error) {
    return (
      <Text role="alert" size="sm" c="red">
        {errorText(comparison.error, t)}
      </Text>
    );
  }
  return <Skeleton height={60} aria-label={t('common.loading')} />;
}

const order: readonly string[] = definitionFields;

function Differences({ comparison }: { comparison: Comparison }) {
  const { t, i18n } = useTranslation();
  const { from, to, fields } = comparison;
  const context = limitKind((to.definition ?? from.definition)?.algorithm ?? '');
  const differences = fields.map(differenceOf).sort((a, b) => order.indexOf(a.field) - order.indexOf(b.field));
  return (
    <FieldDiff
      differences={differences}
      fieldLabel={(field) => t(`field.${field}`, { context, defaultValue: field })}
      showValue={(field, value) => showDefinitionValue(field, value, t, i18n.language)}
    />
  );
}

/** Of long lists of names only what came and went. */
function differenceOf({ field, before, after, added, removed }: Comparison['fields'][number]) {
  const ofNames = (field === 'apps' || field === 'owners') && before !== null && after !== null;
  if (!ofNames) return { field, before, after };
  return { field, before: removed.length > 0 ? removed : null, after: added.length > 0 ? added : null };
}
