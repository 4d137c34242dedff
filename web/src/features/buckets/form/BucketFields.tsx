import { Stack, TextInput, Textarea } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { BehaviourFields } from './BehaviourFields';
import { CountingFields } from './CountingFields';
import { LimitFields } from './LimitFields';
import { AppsField, OwnersField } from './PeopleFields';
import { Section } from './Section';
import type { BucketForm } from './use-bucket-form';

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
        <LimitFields form={form} />
      </Section>
      <Section title={t('form.counting')}>
        <CountingFields form={form} />
      </Section>
      <Section title={t('form.who')}>
        <AppsField {...form.getInputProps('apps')} />
        <OwnersField {...form.getInputProps('owners')} />
      </Section>
      <Section title={t('form.behaviour')}>
        <BehaviourFields form={form} />
      </Section>
      {creating && (
        <Section title={t('form.reason')}>
          <TextInput label={t('reason.label')} description={t('reason.hint')} required {...form.getInputProps('reason')} />
        </Section>
      )}
    </Stack>
  );
}
