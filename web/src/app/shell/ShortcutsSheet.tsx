import { Group, Kbd, Modal, Stack, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { profileRoom, roomsFor } from '@/app/rooms';
import { can, useMe } from '@/lib/api/me';
import { onApple } from '@/lib/shortcuts';

/** All keys of the console. */
export function ShortcutsSheet({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  const me = useMe();
  const everywhere: Line[] = [
    { keys: [onApple ? '⌘' : 'Ctrl', 'K'], together: true, label: t('palette.title') },
    { keys: ['/'], label: t('shortcuts.search') },
    { keys: ['?'], label: t('shortcuts.title') },
    { keys: ['Esc'], label: t('shortcuts.close') },
  ];
  if (can(me, 'bucket.create')) everywhere.push({ keys: ['c'], label: t('buckets.create') });
  const rooms = [...roomsFor(me, t), profileRoom(t)].map((room) => ({ keys: ['g', room.key], label: room.label }));
  return (
    <Modal opened={opened} onClose={onClose} title={t('shortcuts.title')} closeButtonProps={{ 'aria-label': t('common.close') }}>
      <Lines title={t('shortcuts.everywhere')} lines={everywhere} />
      <Lines title={t('shortcuts.goTo')} lines={rooms} />
      <Text size="sm" c="dimmed">
        {t('shortcuts.hint')}
      </Text>
    </Modal>
  );
}

interface Line {
  keys: string[];
  /** Held down at once rather than pressed one after the other. */
  together?: boolean;
  label: string;
}

function Lines({ title, lines }: { title: string; lines: Line[] }) {
  const { t } = useTranslation();
  return (
    <section>
      <Title order={3} size="sm" c="dimmed" fw={600} mb="xs">
        {title}
      </Title>
      <Stack component="dl" gap="xs" m={0} mb="lg">
        {lines.map(({ keys, together = false, label }) => (
          <Group key={label} justify="space-between" wrap="nowrap">
            <Text component="dt">{label}</Text>
            <dd style={{ margin: 0, whiteSpace: 'nowrap' }}>
              {keys.map((key, index) => (
                <span key={key}>
                  {index > 0 && (
                    <Text span size="xs" c="dimmed" mx={4}>
                      {together ? '+' : t('shortcuts.then')}
                    </Text>
                  )}
                  <Kbd>{key}</Kbd>
                </span>
              ))}
            </dd>
          </Group>
        ))}
      </Stack>
    </section>
  );
}
