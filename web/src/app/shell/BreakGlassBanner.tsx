import { Alert, Anchor, Stack, Text } from '@mantine/core';
import { IconShieldOff } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useBreakGlass } from '@/lib/api/break-glass';
import { can, useMe } from '@/lib/api/me';
import { RelativeTime } from '@/components/RelativeTime';

/** Says on every page what break-glass has put into shadow, who did it and why, until it is ended. */
export function BreakGlassBanner() {
  const { t } = useTranslation();
  const me = useMe();
  const { data = [] } = useBreakGlass();
  const everything = data.some((one) => one.scope === 'all');
  return (
    <div role="status" aria-live="polite">
      {data.length > 0 && (
        <Alert
          color="red"
          mb="md"
          styles={{ title: { color: 'var(--mantine-color-error)' } }}
          icon={<IconShieldOff aria-hidden />}
          title={everything ? t('breakGlass.bannerAll') : t('breakGlass.bannerApps')}
        >
          <Stack gap={4}>
            {data.map((one) => (
              <Text key={one.id} size="sm" style={{ overflowWrap: 'anywhere' }}>
                {one.scope === 'app' && (
                  <Text span fw={600}>
                    {t('breakGlass.app', { app: one.app })}{' '}
                  </Text>
                )}
                {t('breakGlass.by', { user: one.started_by })} <RelativeTime at={one.started_at} />: <bdi>{one.reason}</bdi>
              </Text>
            ))}
            {can(me, 'system.see') && (
              <Anchor component={Link} to="/system" size="sm" underline="always">
                {t('breakGlass.manage')}
              </Anchor>
            )}
          </Stack>
        </Alert>
      )}
    </div>
  );
}
