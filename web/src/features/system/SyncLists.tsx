import { Anchor, List, Text } from '@mantine/core';
import type { TFunction } from 'i18next';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { SystemSync } from '@/lib/api/types';
import { RelativeTime } from '@/components/RelativeTime';

type Pending = SystemSync['pending_buckets'][number];

const shown = 10;

/** The buckets that wait, each with what holds it up. */
export function PendingList({ items }: { items: Pending[] }) {
  const { t, i18n } = useTranslation();
  if (items.length === 0) return null;
  return (
    <Items
      title={t('system.waiting')}
      more={items.length - shown}
      lines={items.slice(0, shown).map((one) => (
        <List.Item key={one.bucket}>
          <Name bucket={one.bucket} gone={one.deleted} />: {reasonOf(one, t, i18n.language)}, {t('system.changed')} <RelativeTime at={one.changed_at} />
        </List.Item>
      ))}
    />
  );
}

const brokenField = /: (\w+) [^:]*$/; // "Redis cannot enforce this bucket: rate must be …"

/** A field of a definition as Redis calls it, or what stands for the whole, in words. */
function fieldName(field: string, t: TFunction): string {
  return t(`driftField.${field}`, { defaultValue: t(`field.${field}`, { defaultValue: field }) });
}

function reasonOf(one: Pending, t: TFunction, language: string): string {
  if (one.reason === 'invalid' && language === 'en') return one.message; // it names the bound, too, in English alone
  if (one.reason === 'invalid') return t('syncReason.invalidField', { field: fieldName(brokenField.exec(one.message)?.[1] ?? '', t) });
  return t(`syncReason.${one.reason || 'on_its_way'}`);
}

/** What the last comparison that found something put right. */
export function DriftList({ items, at }: { items: SystemSync['drift']; at: string }) {
  const { t } = useTranslation();
  return (
    <Items
      title={
        <>
          {t('system.drift')} <RelativeTime at={at} />
        </>
      }
      more={items.length - shown}
      lines={items.slice(0, shown).map((one) => (
        <List.Item key={one.bucket}>
          <Name bucket={one.bucket} gone={one.fields.includes('deleted')} />: {one.fields.map((field) => fieldName(field, t)).join(', ')}
        </List.Item>
      ))}
    />
  );
}

/** The definitions that only Redis has. */
export function NameList({ names, total }: { names: string[]; total: number }) {
  const { t } = useTranslation();
  return (
    <Items
      title={t('system.orphans', { count: total })}
      more={total - Math.min(shown, names.length)}
      lines={names.slice(0, shown).map((name) => (
        <List.Item key={name}>{name}</List.Item>
      ))}
    />
  );
}

function Name({ bucket, gone }: { bucket: string; gone: boolean }) {
  if (gone) return <>{bucket}</>;
  return (
    <Anchor component={Link} to={`/buckets/${encodeURIComponent(bucket)}`} size="sm" underline="always">
      {bucket}
    </Anchor>
  );
}

function Items({ title, lines, more }: { title: ReactNode; lines: ReactNode[]; more: number }) {
  const { t } = useTranslation();
  return (
    <div>
      <Text size="sm" fw={600} mb={4}>
        {title}
      </Text>
      <List size="sm" spacing={4} style={{ overflowWrap: 'anywhere' }}>
        {lines}
      </List>
      {more > 0 && (
        <Text size="sm" c="dimmed" mt={4}>
          {t('common.more', { count: more })}
        </Text>
      )}
    </div>
  );
}
