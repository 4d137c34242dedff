import { Anchor, Text } from '@mantine/core';
import type { TFunction } from 'i18next';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { Change } from '@/lib/api/types';
import { actionText, actionTextOn } from './action-text';

const pages: Record<string, string> = { bucket: '/buckets/', app: '/apps/' };

interface ChangeSentenceProps {
  change: Change;
  /** What follows the page of a bucket, such as "/history". */
  bucketTab?: string;
}

/** Who did what to what: "olivia · edited bucket partner-api". */
export function ChangeSentence({ change, bucketTab = '' }: ChangeSentenceProps) {
  const { t } = useTranslation();
  const object = objectOf(change, bucketTab, t);
  const said = object === null ? actionText(change.action, t) : actionTextOn(change.action, t);
  return (
    <>
      <Text span fw={600} inherit>
        {change.actor || t('audit.nobody')}
      </Text>{' '}
      · {said}
      {object !== null && !said.endsWith('：') && ' '}
      {object}
    </>
  );
}

/** What was acted on, in words; null where the action says it all. */
function objectOf({ action, actor, target, target_kind: kind }: Change, bucketTab: string, t: TFunction): ReactNode {
  if (!target || (kind === 'user' && target === actor)) return null;
  if (kind === 'system') return systemObject(action, target, t);
  return named(kind, target, action.endsWith('.delete') ? '' : bucketTab, !action.endsWith('.delete'), t);
}

function systemObject(action: string, target: string, t: TFunction): ReactNode {
  if (action === 'export') return t(`exported.${target}`, { defaultValue: target });
  if (action.startsWith('break_glass.') && target.startsWith('app:')) return named('app', target.slice('app:'.length), '', true, t);
  return null;
}

function named(kind: string, name: string, tab: string, linked: boolean, t: TFunction): ReactNode {
  const page = pages[kind];
  return (
    <>
      {t(`kind.${kind}`, { defaultValue: kind })}{' '}
      {page && linked ? (
        <Anchor component={Link} to={page + encodeURIComponent(name) + (kind === 'bucket' ? tab : '')} underline="always" inherit>
          {name}
        </Anchor>
      ) : (
        <Text span fw={600} inherit>
          {name}
        </Text>
      )}
    </>
  );
}
