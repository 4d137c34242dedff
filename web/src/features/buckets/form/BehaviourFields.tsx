import { Group, NumberInput, Select, TagsInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { failurePolicies, isKeyed, limitKind, lossPolicies, modes } from '@/lib/definition';
import { hintBelow } from './hint-below';
import { ChoiceCards } from './ChoiceCards';
import type { BucketForm } from './use-bucket-form';

/** What happens at the limit, in an outage and after a loss, and the labels. */
export function BehaviourFields({ form }: { form: BucketForm }) {
  const { t } = useTranslation();
  const lossDefault = isKeyed(form.values.partition) ? 'full' : 'refill';
  const context = limitKind(form.values.algorithm);
  const option = (field: string) => (value: string) => ({ value, label: t(`${field}.${value}.name`) });
  return (
    <>
      <ChoiceCards
        label={t('field.mode')}
        options={modes.map((value) => ({
          value,
          label: t(`mode.${value}.name`),
          description: t(`mode.${value}.meaning`),
        }))}
        {...form.getInputProps('mode')}
      />
      <Group align="flex-start" gap="md">
        <Select
          label={t('field.on_redis_failure')}
          inputWrapperOrder={hintBelow}
          description={t(`on_redis_failure.${form.values.on_redis_failure}.meaning`)}
          data={failurePolicies.map(option('on_redis_failure'))}
          allowDeselect={false}
          {...form.getInputProps('on_redis_failure')}
          flex="1 1 15rem"
        />
        <Select
          label={t('field.after_loss')}
          inputWrapperOrder={hintBelow}
          description={t(`after_loss.${form.values.after_loss || lossDefault}.meaning`, { context })}
          data={lossPolicies.map(option('after_loss'))}
          placeholder={t('form.default', { value: t(`after_loss.${lossDefault}.name`) })}
          allowDeselect={false}
          {...form.getInputProps('after_loss')}
          value={form.values.after_loss || null}
          flex="1 1 15rem"
        />
        <NumberInput
          label={t('field.max_wait_ms')}
          inputWrapperOrder={hintBelow}
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
        splitChars={[',']}
        clearable
        clearButtonProps={{ 'aria-label': t('common.clear') }}
        {...form.getInputProps('labels')}
      />
    </>
  );
}
