import { Alert, Button, Group, Stack, Table, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Bucket, Definition } from '@/lib/api/types';
import { definitionFields, definitionOf, limitKind } from '@/lib/definition';
import { compareEdits } from '@/lib/diff/fields';
import { showDefinitionValue } from '@/components/DefinitionValue';
import { RelativeTime } from '@/components/RelativeTime';

interface StaleNoticeProps {
  base: Definition;
  latest: Bucket;
  yours: Definition;
  onKeep: () => void;
  onDiscard: () => void;
}

/** The bucket changed while it was being edited: their change beside yours, and the two ways on. */
export function StaleNotice({ base, latest, yours, onKeep, onDiscard }: StaleNoticeProps) {
  const { t, i18n } = useTranslation();
  const fields = compareEdits({ ...base }, { ...definitionOf(latest) }, { ...yours }, definitionFields);
  const show = (field: string, value: unknown) => showDefinitionValue(field, value, t, i18n.language);
  return (
    <Alert
      role="alert"
      color="orange"
      mb="lg"
      icon={<IconAlertTriangle aria-hidden />}
      title={t('stale.title', { who: latest.updated_by, revision: latest.revision })}
    >
      <Stack gap="sm">
        <Text size="sm">
          {t('stale.text')} <RelativeTime at={latest.updated_at} />
        </Text>
        <Table.ScrollContainer minWidth={480}>
          <Table aria-label={t('stale.compare')} withTableBorder>
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">{t('stale.field')}</Table.Th>
                <Table.Th scope="col">{t('stale.was')}</Table.Th>
                <Table.Th scope="col">{t('stale.theirs')}</Table.Th>
                <Table.Th scope="col">{t('stale.yours')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {fields.map(({ field, base: was, theirs, yours: mine, conflict }) => (
                <Table.Tr key={field}>
                  <Table.Th scope="row">
                    {t(`field.${field}`, { context: limitKind(yours.algorithm) })}
                    {conflict && (
                      <Text size="xs" c="var(--mantine-color-error)">
                        {t('stale.conflict')}
                      </Text>
                    )}
                  </Table.Th>
                  <Table.Td>{show(field, was)}</Table.Td>
                  <Table.Td>{show(field, theirs)}</Table.Td>
                  <Table.Td>{show(field, mine)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
        <Group gap="xs">
          <Button size="sm" onClick={onKeep}>
            {t('stale.keep')}
          </Button>
          <Button size="sm" variant="default" onClick={onDiscard}>
            {t('stale.discard')}
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
