import { Alert, Button, List, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Overtaken } from '@/lib/use-simple-form';
import { showDefinitionValue } from './DefinitionValue';

interface OvertakenNoticeProps {
  overtaken: Overtaken;
  /** The fields of the form with their labels. */
  fields: Readonly<Record<string, string>>;
}

/** The record changed while a small form was open: what it is now, and the way on with one's own input. */
export function OvertakenNotice({ overtaken, fields }: OvertakenNoticeProps) {
  const { t, i18n } = useTranslation();
  return (
    <Alert color="orange" role="alert" title={t('stale.small')}>
      <Text size="sm">{t('stale.smallText')}</Text>
      <List size="sm" my="xs">
        {Object.entries(fields).map(([field, label]) => (
          <List.Item key={field} style={{ overflowWrap: 'anywhere' }}>
            {label}: <bdi>{showDefinitionValue(field, overtaken.current[field], t, i18n.language)}</bdi>
          </List.Item>
        ))}
      </List>
      <Button size="xs" onClick={overtaken.keep}>
        {t('stale.keepMine')}
      </Button>
    </Alert>
  );
}
