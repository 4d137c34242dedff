import { Badge, Code } from '@mantine/core';
import type { TFunction } from 'i18next';
import type { ReactNode } from 'react';
import type { Member } from '@/lib/api/types';
import { splitPeriod } from '@/lib/format/limit';
import { formatNumber } from '@/lib/format/numbers';
import { allApps } from '@/lib/definition';

/** A duration in ms in words: "1 s", "90 s". */
export function durationWords(ms: number, t: TFunction, language: string): string {
  const { count, unit } = splitPeriod(ms);
  return `${formatNumber(count, language)} ${t(`unit.${unit}`)}`;
}

/** One field's value in words. Unknown fields and shapes are shown as they are. */
export function showDefinitionValue(field: string, value: unknown, t: TFunction, language: string): ReactNode {
  if (value === undefined || value === null || value === '') return t('common.none');
  switch (field) {
    case 'rate': // 0 where the algorithm has none
      return Number(value) === 0 ? t('common.none') : formatNumber(Number(value), language);
    case 'max_permits':
    case 'shards':
      return formatNumber(Number(value), language);
    case 'period_ms':
      return durationWords(Number(value), t, language);
    case 'max_wait_ms':
      return Number(value) === 0 ? t('value.noWait') : durationWords(Number(value), t, language);
    case 'partition':
    case 'mode':
    case 'on_redis_failure':
    case 'after_loss':
    case 'algorithm':
      return t(`${field}.${String(value)}.name`, { defaultValue: String(value) });
    case 'apps':
    case 'owners':
      return Array.isArray(value) ? showNames(value as string[], t) : String(value);
    case 'labels':
      return showLabels(value as Record<string, string>, t);
    case 'members':
      return Array.isArray(value) ? showMembers(value as Member[], t) : String(value);
    case 'role':
      return t(`role.${String(value)}`, { defaultValue: t(`appRole.${String(value)}`, { defaultValue: String(value) }) });
    case 'disabled':
      return value === true ? t('common.yes') : t('common.no');
    default:
      return typeof value === 'object' ? <Code>{JSON.stringify(value)}</Code> : <bdi>{String(value)}</bdi>;
  }
}

function showNames(names: string[], t: TFunction): ReactNode {
  if (names.length === 0) return t('common.none');
  return names.map((name) => (name === allApps ? t('value.allApps') : name)).join(', ');
}

function showMembers(members: Member[], t: TFunction): ReactNode {
  if (members.length === 0) return t('common.none');
  return members.map(({ user, role }) => `${user} (${t(`appRole.${role}`)})`).join(', ');
}

/** A label may be longer than the screen is wide; what stands in it must be readable. */
const brokenAnywhere = {
  root: { height: 'auto', minWidth: 0, maxWidth: '100%' },
  label: { whiteSpace: 'normal', overflowWrap: 'anywhere', overflow: 'visible' },
} as const;

function showLabels(labels: Record<string, string>, t: TFunction): ReactNode {
  const entries = Object.entries(labels);
  if (entries.length === 0) return t('common.none');
  return (
    <span>
      {entries.map(([key, value]) => (
        <Badge key={key} component="span" variant="default" tt="none" fw={500} me={4} styles={brokenAnywhere}>
          {key}=<bdi>{value}</bdi>
        </Badge>
      ))}
    </span>
  );
}
