import { Alert, Button, Group, Select, Stack, TagsInput } from '@mantine/core';
import { useEffect, useRef, useState, type FormEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Bucket } from '@/lib/api/types';
import { useUserNames } from '@/lib/api/names';
import { modes } from '@/lib/definition';
import { focusFirstInvalid } from '@/lib/form-errors';
import { CancelButton } from '@/components/FormDialog';
import { NamesPicker } from '@/components/NamesPicker';
import { useLabelNames } from '@/features/buckets/api/labels';
import { validateBulk, type BulkErrors, type BulkValues } from './change';

interface ChooseFormProps {
  buckets: readonly Bucket[];
  values: BulkValues;
  onChange: (values: BulkValues) => void;
  onSubmit: () => void;
  onCancel: () => void;
  asking: boolean;
  /** What the server refused of the inputs. */
  refused: BulkErrors;
  /** What the server refused. */
  children: ReactNode;
}

/** What shall become different; everything left empty stays as it is. */
export function ChooseForm({ buckets, values, onChange, onSubmit, onCancel, asking, refused, children }: ChooseFormProps) {
  const { t } = useTranslation();
  const [wrong, setWrong] = useState<BulkErrors>({});
  const errors = { ...refused, ...wrong };
  const element = useRef<HTMLFormElement>(null);
  const [empty, setEmpty] = useState(false);
  const set = (part: Partial<BulkValues>) => onChange({ ...values, ...part });

  function submit(event: FormEvent) {
    event.preventDefault();
    const found = validateBulk(values, t);
    setWrong(found.errors);
    setEmpty(found.none);
    if (Object.keys(found.errors).length > 0) focusFirstInvalid(element.current);
    else if (!found.none) onSubmit();
  }

  const faults = Object.values(refused).join();
  useEffect(() => {
    if (faults) focusFirstInvalid(element.current);
  }, [faults]);

  return (
    <form ref={element} onSubmit={submit} noValidate>
      <Stack>
        <Select
          label={t('field.mode')}
          placeholder={t('bulk.asIs')}
          data={modes.map((mode) => ({ value: mode, label: t(`mode.${mode}.name`) }))}
          value={values.mode || null}
          onChange={(mode) => set({ mode: mode ?? '' })}
          error={errors.mode}
          clearable
          clearButtonProps={{ 'aria-label': t('common.clear') }}
          data-autofocus
        />
        <LabelFields buckets={buckets} values={values} errors={errors} onChange={set} />
        <OwnerFields buckets={buckets} values={values} errors={errors} onChange={set} />
        {empty && (
          <Alert color="red" role="alert">
            {t('bulk.nothing')}
          </Alert>
        )}
        {children}
        <Group justify="flex-end">
          <CancelButton onCancel={onCancel} />
          <Button type="submit" loading={asking}>
            {t('bulk.review')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface FieldsProps {
  buckets: readonly Bucket[];
  values: BulkValues;
  errors: BulkErrors;
  onChange: (part: Partial<BulkValues>) => void;
}

function LabelFields({ buckets, values, errors, onChange }: FieldsProps) {
  const { t } = useTranslation();
  const known = useLabelNames('');
  const keys = [...new Set(buckets.flatMap(({ labels }) => Object.keys(labels)))].sort();
  return (
    <>
      <TagsInput
        label={t('bulk.setLabels')}
        description={t('bulk.setLabelsHint')}
        placeholder={values.setLabels.length === 0 ? 'team=payments' : ''}
        data={known.data ?? []}
        splitChars={[',']}
        value={values.setLabels}
        onChange={(setLabels) => onChange({ setLabels })}
        error={errors.setLabels}
        clearable
        clearButtonProps={{ 'aria-label': t('common.clear') }}
      />
      <NamesPicker
        label={t('bulk.removeLabels')}
        options={keys.map((key) => ({ value: key, label: key }))}
        value={values.removeLabels}
        onChange={(removeLabels) => onChange({ removeLabels })}
        error={errors.removeLabels}
      />
    </>
  );
}

function OwnerFields({ buckets, values, errors, onChange }: FieldsProps) {
  const { t } = useTranslation();
  const [search, setSearch] = useState('');
  const users = useUserNames(search);
  const owners = [...new Set(buckets.flatMap((bucket) => bucket.owners))].sort();
  const options = (names: readonly string[]) => names.map((name) => ({ value: name, label: name }));
  return (
    <>
      <NamesPicker
        label={t('bulk.addOwners')}
        options={options(users.data ?? [])}
        value={values.addOwners}
        onChange={(addOwners) => onChange({ addOwners })}
        onSearch={setSearch}
        error={errors.addOwners}
      />
      <NamesPicker
        label={t('bulk.removeOwners')}
        options={options(owners)}
        value={values.removeOwners}
        onChange={(removeOwners) => onChange({ removeOwners })}
        error={errors.removeOwners}
      />
    </>
  );
}
