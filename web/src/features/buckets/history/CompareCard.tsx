import { Card, Group, Select, Title } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import { useUrlSet } from '@/lib/url-state';
import { ComparisonView } from './ComparisonView';
import { matchingRevisions } from './revisions';

const shownMost = 100; // offered at once; typing finds the others

interface CompareCardProps {
  name: string;
  newest: number;
  /** The one before the newest: revisions count up from 1, but may skip some. */
  previous: number;
}

/** Lays any two revisions side by side; which two is in the URL. All numbers are offered; of one that was skipped the server says so. */
export function CompareCard({ name, newest, previous }: CompareCardProps) {
  const { t } = useTranslation();
  const [params] = useSearchParams();
  const set = useUrlSet();
  const chosen = (param: string, otherwise: number) => {
    const revision = Number(params.get(param));
    return Number.isInteger(revision) && revision >= 1 && revision <= newest ? revision : otherwise;
  };
  const [left, right] = [chosen('from', previous), chosen('to', newest)];
  const options = useMemo(
    () =>
      Array.from({ length: newest }, (_, index) => {
        const revision = newest - index;
        return { value: String(revision), label: t('bucket.revision', { revision }) };
      }),
    [newest, t],
  );
  const picker = (label: string, value: number, param: string) => (
    <Select
      label={label}
      data={options}
      filter={({ search }) => matchingRevisions(options, search, shownMost)}
      value={String(value)}
      onChange={(picked) => picked && set({ [param]: picked })}
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
        {picker(t('history.from'), left, 'from')}
        {picker(t('history.to'), right, 'to')}
      </Group>
      <ComparisonView name={name} from={left} to={right} />
    </Card>
  );
}
