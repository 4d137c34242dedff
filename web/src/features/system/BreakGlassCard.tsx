import { Group, Stack, Text } from '@mantine/core';
import { IconShieldCheck, IconShieldOff } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useBreakGlass } from '@/lib/api/break-glass';
import { can, useMe } from '@/lib/api/me';
import { useUrlDialog, useUrlDialogOf } from '@/lib/url-dialog';
import { ActionButton } from '@/components/ActionButton';
import { RelativeTime } from '@/components/RelativeTime';
import { Section } from '@/components/Section';
import { StateBadge } from '@/components/StateBadge';
import { EndBreakGlassDialog } from './EndBreakGlassDialog';
import { StartBreakGlassDialog } from './StartBreakGlassDialog';

/** What break-glass has put into shadow, and the way in and out of it. */
export function BreakGlassCard() {
  const { t } = useTranslation();
  const me = useMe();
  const { data } = useBreakGlass();
  const [starting, { open, close }] = useUrlDialog('break-glass');
  const [chosen, ending] = useUrlDialogOf('end-break-glass');
  const one = data?.find(({ id }) => String(id) === chosen);
  const denied = can(me, 'system.break_glass') ? undefined : t('breakGlass.denied');
  return (
    <Section
      title={t('breakGlass.title')}
      description={t('breakGlass.text')}
      actions={
        data && (
          <StateBadge tone={data.length === 0 ? 'good' : 'bad'}>
            {t(data.length === 0 ? 'breakGlass.off' : 'breakGlass.on')}
          </StateBadge>
        )
      }
    >
      <Stack>
        {data?.map((one) => (
          <Group key={one.id} justify="space-between" gap="sm">
            <Text size="sm" style={{ overflowWrap: 'anywhere', flex: '1 1 16rem' }}>
              <Text span fw={600}>
                {one.scope === 'app' ? t('breakGlass.app', { app: one.app }) : t('breakGlass.all')}
              </Text>{' '}
              {t('breakGlass.by', { user: one.started_by })} <RelativeTime at={one.started_at} />: <bdi>{one.reason}</bdi>
            </Text>
            <ActionButton
              size="sm"
              onClick={() => ending.open(String(one.id))}
              denied={denied}
              leftSection={<IconShieldCheck size={16} aria-hidden />}
            >
              {t('breakGlass.end')}
            </ActionButton>
          </Group>
        ))}
        <Group>
          <ActionButton
            variant="default"
            onClick={open}
            denied={denied}
            leftSection={<IconShieldOff size={16} aria-hidden />}
          >
            {t('breakGlass.start')}
          </ActionButton>
        </Group>
      </Stack>
      <StartBreakGlassDialog opened={starting && denied === undefined} onClose={close} />
      <EndBreakGlassDialog one={denied === undefined ? (one ?? null) : null} onClose={ending.close} />
    </Section>
  );
}
