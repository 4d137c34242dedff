import { CloseButton, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useUrlText } from '@/lib/url-state';

interface SearchInputProps {
  label: string;
  /** The search parameter that holds the text. */
  param?: string;
}

/** Searches a list; the text lives in the URL. The shell's key "/" leads here. */
export function SearchInput({ label, param = 'search' }: SearchInputProps) {
  const { t } = useTranslation();
  const { value, onChange } = useUrlText(param);
  return (
    <TextInput
      type="search"
      aria-label={label}
      aria-keyshortcuts="/"
      placeholder={`${label} ( / )`}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      leftSection={<IconSearch size={16} aria-hidden />}
      rightSection={value && <CloseButton size="sm" aria-label={t('common.clear')} onClick={() => onChange('')} />}
      rightSectionPointerEvents="all"
      flex="1 1 14rem"
    />
  );
}
