import { NumberInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { isKeyed, partitions } from '@/lib/definition';
import { ChoiceCards } from './ChoiceCards';
import type { BucketForm } from './use-bucket-form';
import { bounds } from './validate';

/** Whose usage is counted together, and over how many shards keys are spread. */
export function CountingFields({ form }: { form: BucketForm }) {
  const { t } = useTranslation();
  return (
    <>
      <ChoiceCards
        label={t('field.partition')}
        description={t('hint.partition')}
        options={partitions.map((value) => ({
          value,
          label: t(`partition.${value}.name`),
          description: t(`partition.${value}.meaning`),
          example: t(`partition.${value}.example`),
        }))}
        {...form.getInputProps('partition')}
      />
      {isKeyed(form.values.partition) && (
        <NumberInput
          label={t('field.shards')}
          description={t('hint.shards')}
          allowDecimal={false}
          min={1}
          max={bounds.shards}
          clampBehavior="none"
          maw={480}
          {...form.getInputProps('shards')}
        />
      )}
    </>
  );
}
