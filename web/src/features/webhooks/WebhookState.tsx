import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Webhook } from '@/lib/api/types';
import { RelativeTime } from '@/components/RelativeTime';
import { StateBadge } from '@/components/StateBadge';
import { failureText } from './failure';

const tones = { ok: 'good', retrying: 'watch', failing: 'bad', off: 'off' } as const;
type State = keyof typeof tones;

function isState(state: string): state is State {
  return state in tones;
}

/** How telling an endpoint goes, in one word. */
export function WebhookBadge({ state }: { state: Webhook['state'] }) {
  const { t } = useTranslation();
  const known = isState(state.state) ? state.state : 'failing';
  return <StateBadge tone={tones[known]}>{t(`webhookState.${known}`)}</StateBadge>;
}

/** Since when an endpoint fails and why; nothing when it does not. */
export function WebhookTrouble({ state }: { state: Webhook['state'] }) {
  const { t } = useTranslation();
  if (!state.failed_at) return null;
  return (
    <Text size="sm" component="div">
      {state.last_error && <div style={{ overflowWrap: 'anywhere' }}>{failureText(state.last_error, t)}</div>}
      <div>
        {t('webhooks.failingSince')} <RelativeTime at={state.failed_at} />
      </div>
      {state.next_at && (
        <>
          {t('webhooks.nextTry')} <RelativeTime at={state.next_at} />
        </>
      )}
    </Text>
  );
}
