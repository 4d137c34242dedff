import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';

/** Clears all filters of a list where nothing matches. It goes with that, so the focus moves on to the first filter. */
export function ClearFilters({ onClear }: { onClear: () => void }) {
  const { t } = useTranslation();
  function clear() {
    onClear();
    document.querySelector<HTMLInputElement>('main [role="search"] input')?.focus();
  }
  return (
    <Button variant="default" onClick={clear}>
      {t('buckets.clearFilters')}
    </Button>
  );
}
