import { List, SimpleGrid, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Bucket } from '@/lib/api/types';
import { allApps } from '@/lib/definition';
import { AppLink } from '@/components/AppLink';
import { ActionButton } from '@/components/ActionButton';
import { Section } from '@/components/Section';
import { AlertsSection } from './AlertsSection';
import { DangerZone } from './DangerZone';
import { DeleteSection } from './DeleteSection';
import { SwitchSection } from './SwitchSection';

/** Whose the bucket is, and what ends it. */
export function SettingsTab({ bucket }: { bucket: Bucket }) {
  const { t } = useTranslation();
  const every = bucket.apps.includes(allApps);
  return (
    <Stack gap="lg">
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
        <Section title={t('settings.people')} description={t('settings.peopleText')} actions={<Change bucket={bucket} label={t('settings.changeOwners')} />}>
          <List style={{ overflowWrap: 'anywhere' }}>
            {bucket.owners.map((owner) => (
              <List.Item key={owner}>{owner}</List.Item>
            ))}
          </List>
        </Section>
        <Section title={t('settings.apps')} description={t('settings.appsText')} actions={<Change bucket={bucket} label={t('settings.changeApps')} />}>
          {every ? (
            <Text>{t('value.allApps')}</Text>
          ) : bucket.apps.length === 0 ? (
            <Text>{t('value.noApps')}</Text>
          ) : (
            <List style={{ overflowWrap: 'anywhere' }}>
              {bucket.apps.map((app) => (
                <List.Item key={app}>
                  <AppLink app={app} />
                </List.Item>
              ))}
            </List>
          )}
        </Section>
      </SimpleGrid>
      <AlertsSection bucket={bucket} />
      <DangerZone bucket={bucket}>
        <SwitchSection bucket={bucket} />
        <DeleteSection bucket={bucket} />
      </DangerZone>
    </Stack>
  );
}

function Change({ bucket, label }: { bucket: Bucket; label: string }) {
  const { t } = useTranslation();
  return (
    <ActionButton
      size="xs"
      variant="default"
      to={`/buckets/${bucket.name}/edit`}
      aria-label={label}
      denied={bucket.may.edit ? undefined : t('denied.edit', { owners: bucket.owners.join(', ') })}
    >
      {t('settings.change')}
    </ActionButton>
  );
}
