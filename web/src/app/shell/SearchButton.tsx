import { ActionIcon, Kbd, Text, UnstyledButton } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { onApple } from '@/lib/shortcuts';
import classes from './Shell.module.css';

interface SearchButtonProps {
  onClick: () => void;
  /** The pointer or the focus is on it. */
  onNear: () => void;
}

/** Opens the palette, and tells its key. */
export function SearchButton({ onClick, onNear }: SearchButtonProps) {
  const { t } = useTranslation();
  const label = t('palette.title');
  const keys = onApple ? '⌘ K' : 'Ctrl K';
  return (
    <>
      <UnstyledButton className={classes.search} aria-label={label} onClick={onClick} onPointerEnter={onNear} onFocus={onNear} visibleFrom="sm" aria-keyshortcuts="Control+K Meta+K">
        <IconSearch size={16} aria-hidden />
        <Text span size="sm" flex={1}>
          {t('palette.open')}
        </Text>
        <Kbd size="xs" aria-hidden>
          {keys}
        </Kbd>
      </UnstyledButton>
      <ActionIcon variant="subtle" color="gray" size="lg" c="inherit" hiddenFrom="sm" onClick={onClick} onPointerEnter={onNear} onFocus={onNear} aria-label={label}>
        <IconSearch size={20} aria-hidden />
      </ActionIcon>
    </>
  );
}
