import { Card, Group, Select, Title } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Change } from '@/lib/api/types';
import { ComparisonView } from './ComparisonView';

/** Lays any two revisions side by side. */
export function CompareCard({ name, changes }: { name: string; changes: readonly Change[] }) {
  const { t } = useTranslation();
  const revisions = changes.map((change) => change.revision);
  const [from, setFrom] = useState<number>();
  const [to, setTo] = useState<number>();
  const [left, right] = [from ?? revisions[1] ?? 0, to ?? revisions[0] ?? 0];
  const options = revisions.map((revision) => ({ value: String(revision), label: t('bucket.revision', { revision }) }));
  const picker = (label: string, value: number, onPick: (revision: number) => void) => (
    <Select
      label={label}
      data={options}
      value={String(value)}
      onChange={(chosen) => chosen && onPick(Number(chosen))}
      allowDeselect={false}
      searchable
      nothingFoundMessage={t('picker.nothing')}
      flex="1 1 10rem"
      maw={240}
    />
  );
  return (
    <Card withBorder padding="md" component="section" aria-labelledby="compare-title" mb="md">
      <Title order={2} size="h5" id="compare-title" mb="xs">
        {t('history.compare')}
      </Title>
      <Group gap="sm" mb="md" align="flex-end">
        {picker(t('history.from'), left, setFrom)}
        {picker(t('history.to'), right, setTo)}
      </Group>
      <ComparisonView name={name} from={left} to={right} />
    </Card>
  );
}
