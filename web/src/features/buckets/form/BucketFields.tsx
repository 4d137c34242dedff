import { Group, NumberInput, Select, Stack, TagsInput, TextInput, Textarea } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { periodUnits, type PeriodUnit } from '@/lib/format/limit';
import { failurePolicies, isKeyed, lossPolicies } from '@/lib/definition';
import { AppsField, OwnersField } from './PeopleFields';
import { ChoiceCards } from './ChoiceCards';
import { LimitPreview } from './LimitPreview';
import { Section } from './Section';
import type { BucketForm } from './use-bucket-form';
import { bounds } from './validate';

interface BucketFieldsProps {
  form: BucketForm;
  /** At creation the name and the reason are asked for as well. */
  creating: boolean;
}

/** The inputs of a bucket's definition. */
export function BucketFields({ form, creating }: BucketFieldsProps) {
  const { t } = useTranslation();
  return (
    <Stack gap="xl">
      <Section title={t('form.what')}>
        {creating && (
          <TextInput
            label={t('field.name')}
            description={t('hint.name')}
            required
            autoComplete="off"
            spellCheck={false}
            {...form.getInputProps('name')}
          />
        )}
        <Textarea label={t('field.description')} autosize minRows={2} maxRows={8} {...form.getInputProps('description')} />
      </Section>
      <Section title={t('form.limit')}>
        <LimitInputs form={form} />
        <LimitPreview values={form.values} />
      </Section>
      <Section title={t('form.counting')}>
        <ChoiceCards
          label={t('field.partition')}
          description={t('hint.partition')}
          options={['shared', 'app', 'key', 'app_key'].map((value) => ({
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
            maw={320}
            {...form.getInputProps('shards')}
          />
        )}
      </Section>
      <Section title={t('form.who')}>
        <AppsField {...form.getInputProps('apps')} />
        <OwnersField {...form.getInputProps('owners')} />
      </Section>
      <Section title={t('form.behaviour')}>
        <BehaviourInputs form={form} />
      </Section>
      {creating && (
        <Section title={t('form.reason')}>
          <TextInput label={t('reason.label')} description={t('reason.hint')} required {...form.getInputProps('reason')} />
        </Section>
      )}
    </Stack>
  );
}

function LimitInputs({ form }: { form: BucketForm }) {
  const { t, i18n } = useTranslation();
  const separator = new Intl.NumberFormat(i18n.language).format(1000).charAt(1);
  const numbers = { allowDecimal: false, allowNegative: false, clampBehavior: 'none', thousandSeparator: separator } as const;
  return (
    <Group align="flex-start" gap="md">
      <NumberInput label={t('field.rate')} description={t('hint.rate')} required {...numbers} {...form.getInputProps('rate')} flex="1 1 11rem" />
      <Group align="flex-start" gap="xs" flex="1 1 13rem" wrap="nowrap">
        <NumberInput label={t('field.period')} description={t('hint.period')} required {...numbers} {...form.getInputProps('period')} flex={1} />
        <Select
          label={t('field.unit')}
          description={'\u00a0'}
          data={periodUnits.map(({ unit }) => ({ value: unit, label: t(`unit.${unit}`) })).reverse()}
          allowDeselect={false}
          w={96}
          value={form.values.periodUnit}
          onChange={(unit) => form.setFieldValue('periodUnit', unit as PeriodUnit)}
        />
      </Group>
      <NumberInput
        label={t('field.max_permits')}
        description={t('hint.max_permits')}
        required
        {...numbers}
        {...form.getInputProps('max_permits')}
        flex="1 1 11rem"
      />
    </Group>
  );
}

function BehaviourInputs({ form }: { form: BucketForm }) {
  const { t } = useTranslation();
  const lossDefault = isKeyed(form.values.partition) ? 'full' : 'refill';
  const option = (field: string) => (value: string) => ({ value, label: t(`${field}.${value}.name`) });
  return (
    <>
      <ChoiceCards
        label={t('field.mode')}
        options={['enforce', 'shadow', 'off'].map((value) => ({
          value,
          label: t(`mode.${value}.name`),
          description: t(`mode.${value}.meaning`),
        }))}
        {...form.getInputProps('mode')}
      />
      <Group align="flex-start" gap="md">
        <Select
          label={t('field.on_redis_failure')}
          description={t(`on_redis_failure.${form.values.on_redis_failure}.meaning`)}
          data={failurePolicies.map(option('on_redis_failure'))}
          allowDeselect={false}
          {...form.getInputProps('on_redis_failure')}
          flex="1 1 15rem"
        />
        <Select
          label={t('field.after_loss')}
          description={t(`after_loss.${form.values.after_loss || lossDefault}.meaning`)}
          data={lossPolicies.map(option('after_loss'))}
          placeholder={t('form.default', { value: t(`after_loss.${lossDefault}.name`) })}
          allowDeselect={false}
          {...form.getInputProps('after_loss')}
          value={form.values.after_loss || null}
          flex="1 1 15rem"
        />
        <NumberInput
          label={t('field.max_wait_ms')}
          description={t('hint.maxWait')}
          suffix={` ${t('unit.s')}`}
          allowNegative={false}
          clampBehavior="none"
          {...form.getInputProps('maxWait')}
          flex="1 1 15rem"
        />
      </Group>
      <TagsInput
        label={t('field.labels')}
        description={t('hint.labels')}
        placeholder={form.values.labels.length === 0 ? 'team=payments' : ''}
        splitChars={[',', ' ']}
        clearable
        clearButtonProps={{ 'aria-label': t('common.clear') }}
        {...form.getInputProps('labels')}
      />
    </>
  );
}
