import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { FieldDifference } from '@/lib/diff/fields';
import classes from './FieldDiff.module.css';

interface FieldDiffProps {
  differences: FieldDifference[];
  /** A field's name for people. */
  fieldLabel: (field: string) => string;
  /** A value in words. */
  showValue: (field: string, value: unknown) => ReactNode;
}

/** What changed, a row a field: before and after, told apart by sign and word as well as by colour. */
export function FieldDiff({ differences, fieldLabel, showValue }: FieldDiffProps) {
  const { t } = useTranslation();
  if (differences.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t('diff.none')}
      </Text>
    );
  }
  return (
    <dl className={classes.list} data-testid="field-diff">
      {differences.map(({ field, before, after }) => (
        <div key={field} className={classes.row}>
          <dt className={classes.field}>{fieldLabel(field)}</dt>
          <dd className={classes.values}>
            {isThere(before) && (
              <del className={classes.before}>
                <span aria-hidden className={classes.sign}>
                  −
                </span>
                <span className="visually-hidden">{t('diff.before')} </span>
                {showValue(field, before)}
              </del>
            )}
            {isThere(after) && (
              <ins className={classes.after}>
                <span aria-hidden className={classes.sign}>
                  +
                </span>
                <span className="visually-hidden">{t('diff.after')} </span>
                {showValue(field, after)}
              </ins>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}
