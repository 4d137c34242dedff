import { Group, Text } from '@mantine/core';
import { IconLink } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { formatNumber } from '@/lib/format/numbers';
import { Copy } from '@/components/CodeBlock';
import { RelativeTime } from '@/components/RelativeTime';
import { useChain } from './api/chain';

/** Where the chain of hashes stands, and up to where it is signed. Without an answer it says nothing: the entries are the page. */
export function ChainState() {
  const { t, i18n } = useTranslation();
  const chain = useChain().data;
  if (!chain) return null;
  const { checkpoint } = chain;
  const number = (value: number) => formatNumber(value, i18n.language);
  const last = number(chain.last);
  return (
    <Group gap={6} mih={28} wrap="nowrap" data-testid="chain">
      <IconLink size={16} aria-hidden style={{ flexShrink: 0 }} />
      <Text size="sm">
        {checkpoint ? t('chain.signed', { last, row: number(checkpoint.row) }) : t('chain.unsigned', { last })}
        {checkpoint && (
          <>
            {' '}
            · <RelativeTime at={checkpoint.at} />
          </>
        )}
      </Text>
      {checkpoint && <Copy value={checkpoint.text} what={t('chain.checkpoint')} />}
    </Group>
  );
}
