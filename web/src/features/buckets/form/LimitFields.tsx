import { Group, NumberInput, Select, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { algorithms, limitKind } from '@/lib/definition';
import { joinPeriod, periodUnits, type PeriodUnit } from '@/lib/format/limit';
import { LimitPreview } from '@/features/buckets/LimitPreview';
import { hintBelow } from './hint-below';
import { ChoiceCards } from './ChoiceCards';
import type { BucketForm } from './use-bucket-form';
import { withAlgorithm, type BucketValues } from './values';

/** The algorithm and the numbers that it asks for, with the limit that they make in words. */
export function LimitFields({ form }: { form: BucketForm }) {
  const { t } = useTranslation();
  return (
    <>
      <ChoiceCards
        label={t('field.algorithm')}
        description={t('hint.algorithm')}
        options={algorithms.map((value) => ({
          value,
          label: t(`algorithm.${value}.name`),
          description: t(`algorithm.${value}.meaning`),
          example: t(`algorithm.${value}.example`),
        }))}
        {...form.getInputProps('algorithm')}
        onChange={(algorithm) => form.setValues(withAlgorithm(form.getValues(), algorithm))}
      />
      <Numbers form={form} />
      <Preview values={form.values} />
    </>
  );
}

function Numbers({ form }: { form: BucketForm }) {
  const { t, i18n } = useTranslation();
  const context = limitKind(form.values.algorithm);
  const separator = new Intl.NumberFormat(i18n.language).format(1000).charAt(1);
  const numbers = { allowDecimal: false, allowNegative: false, clampBehavior: 'none', thousandSeparator: separator } as const;
  const permits = (
    <NumberInput
      label={t('field.max_permits', { context })}
      description={t('hint.max_permits', { context })}
      inputWrapperOrder={hintBelow}
      required
      {...numbers}
      {...form.getInputProps('max_permits')}
      flex="1 1 11rem"
    />
  );
  return (
    <Group align="flex-start" gap="md">
      {context === 'rate' ? (
        <NumberInput label={t('field.rate')} description={t('hint.rate')} inputWrapperOrder={hintBelow} required {...numbers} {...form.getInputProps('rate')} flex="1 1 11rem" />
      ) : (
        permits
      )}
      <Group align="flex-start" gap="xs" flex="1 1 13rem" wrap="nowrap">
        <NumberInput
          label={t('field.period', { context })}
          description={t('hint.period', { context })}
          inputWrapperOrder={hintBelow}
          required
          {...numbers}
          {...form.getInputProps('period')}
          flex={1}
        />
        <Select
          label={t('field.unit')}
          data={periodUnits.map(({ unit }) => ({ value: unit, label: t(`unit.${unit}`) })).reverse()}
          allowDeselect={false}
          w={96}
          value={form.values.periodUnit}
          onChange={(unit) => form.setFieldValue('periodUnit', unit as PeriodUnit)}
        />
      </Group>
      {context === 'rate' && permits}
    </Group>
  );
}

/** The limit being typed, in words: what it comes to. */
function Preview({ values }: { values: BucketValues }) {
  const { t } = useTranslation();
  const context = limitKind(values.algorithm);
  const limit = {
    algorithm: values.algorithm,
    rate: Number(values.rate),
    period_ms: joinPeriod(Number(values.period), values.periodUnit),
    max_permits: Number(values.max_permits),
  };
  const needed = [limit.period_ms, limit.max_permits, ...(context === 'rate' ? [limit.rate] : [])];
  const complete = needed.every((n) => Number.isInteger(n) && n > 0);
  return (
    <Text role="status" size="sm" c={complete ? undefined : 'dimmed'}>
      {complete ? <LimitPreview limit={limit} /> : t('limit.previewEmpty', { context })}
    </Text>
  );
}
