import { Card, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Bucket } from '@/lib/api/types';
import { definitionFields, isShown, limitKind, type DefinitionField } from '@/lib/definition';
import { showDefinitionValue } from '@/components/DefinitionValue';
import { RelativeTime } from '@/components/RelativeTime';
import { LimitPreview } from '@/features/buckets/LimitPreview';
import classes from './DefinitionTab.module.css';

// Fields whose chosen value has a meaning of its own; of the others the field is explained.
const explainedByValue = new Set<DefinitionField>(['partition', 'mode', 'on_redis_failure', 'after_loss', 'algorithm']);

/** Every field of the definition with its meaning. */
export function DefinitionTab({ bucket }: { bucket: Bucket }) {
  const { t, i18n } = useTranslation();
  const context = limitKind(bucket.algorithm);
  const shown = definitionFields.filter((field) => isShown(field, bucket));
  return (
    <Card withBorder padding="lg">
      <Text mb="md" fw={500}>
        <LimitPreview limit={bucket} />
      </Text>
      {!bucket.may.edit && (
        <Text size="sm" c="dimmed" mb="md">
          {t('denied.edit', { owners: bucket.owners.join(', ') })}
        </Text>
      )}
      <dl className={classes.list}>
        {shown.map((field) => (
          <div key={field} className={classes.row}>
            <dt className={classes.field}>{t(`field.${field}`, { context })}</dt>
            <dd className={classes.value}>
              <div>{showDefinitionValue(field, bucket[field], t, i18n.language)}</div>
              <Text size="sm" c="dimmed">
                {t(explainedByValue.has(field) ? `${field}.${String(bucket[field])}.meaning` : `meaning.${field}`, { context })}
              </Text>
            </dd>
          </div>
        ))}
        <div className={classes.row}>
          <dt className={classes.field}>{t('bucket.created')}</dt>
          <dd className={classes.value}>
            {bucket.created_by}, <RelativeTime at={bucket.created_at} />
          </dd>
        </div>
        <div className={classes.row}>
          <dt className={classes.field}>{t('bucket.lastChange')}</dt>
          <dd className={classes.value}>
            {bucket.updated_by}, <RelativeTime at={bucket.updated_at} />
          </dd>
        </div>
      </dl>
    </Card>
  );
}
