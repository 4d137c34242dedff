import { MultiSelect } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

interface NamesPickerProps {
  label: string;
  description?: ReactNode;
  placeholder?: string;
  /** What may be picked; picked names are kept even when they are not among these. */
  options: { value: string; label: string }[];
  value?: string[];
  onChange: (names: string[]) => void;
  onSearch?: (text: string) => void;
  error?: ReactNode;
  required?: boolean;
  id?: string;
}

/** Picks several names out of a list that can be searched. */
export function NamesPicker({ options, value = [], onChange, onSearch, placeholder, ...rest }: NamesPickerProps) {
  const { t } = useTranslation();
  const known = new Set(options.map((option) => option.value));
  const data = [...options, ...value.filter((name) => !known.has(name)).map((name) => ({ value: name, label: name }))];
  return (
    <MultiSelect
      {...rest}
      data={data}
      value={value}
      onChange={onChange}
      searchable
      hidePickedOptions
      clearable
      limit={25} // a longer list takes long to draw, and the search finds the others
      maxDropdownHeight={260}
      nothingFoundMessage={t('picker.nothing')}
      clearButtonProps={{ 'aria-label': t('common.clear') }}
      {...(onSearch ? { onSearchChange: onSearch } : {})}
      {...(value.length === 0 && placeholder ? { placeholder } : {})}
    />
  );
}
