import { Code, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { System } from '@/lib/api/types';
import { Copy } from '@/components/CodeBlock';
import { Section } from '@/components/Section';
import { StateBadge } from '@/components/StateBadge';

/** Whose Redis it is: an installation writes only into its own. */
export function OwnerCard({ owner }: { owner: System['owner'] }) {
  const { t } = useTranslation();
  const unknown = owner.redis === '';
  return (
    <Section
      title={t('system.owner')}
      description={t('system.ownerText')}
      actions={
        <StateBadge tone={owner.ours ? 'good' : unknown ? 'watch' : 'bad'}>
          {owner.ours ? t('system.ours') : unknown ? t('system.ownerUnknown') : t('system.foreign')}
        </StateBadge>
      }
    >
      <Stack gap={4}>
        <Id label={t('system.deployment')} value={owner.deployment} />
        {!owner.ours && !unknown && <Id label={t('system.redisOwner')} value={owner.redis} />}
      </Stack>
      {!owner.ours && !unknown && (
        <Text size="sm" mt="xs">
          {t('system.foreignText')}
        </Text>
      )}
    </Section>
  );
}

function Id({ label, value }: { label: string; value: string }) {
  return (
    <Group gap="xs">
      <Text size="sm">{label}</Text>
      <Code style={{ overflowWrap: 'anywhere' }}>{value}</Code>
      <Copy value={value} what={label} />
    </Group>
  );
}
