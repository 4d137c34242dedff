import { Alert, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAlertRules } from '@/lib/api/alerts';
import type { AlertRule, AlertRules, Bucket } from '@/lib/api/types';
import { useUrlDialogOf } from '@/lib/url-dialog';
import { ActionButton } from '@/components/ActionButton';
import { alertRuleText, alertValueText } from '@/components/alert-text';
import { errorText } from '@/components/error-text';
import { RelativeTime } from '@/components/RelativeTime';
import { Section } from '@/components/Section';
import { StateBadge } from '@/components/StateBadge';
import { AlertRuleDialog } from './AlertRuleDialog';
import { RemoveAlertRule } from './RemoveAlertRule';

const most = 10; // rules of one bucket

/** When the owners of the bucket are told, and how things stand. */
export function AlertsSection({ bucket }: { bucket: Bucket }) {
  const { t } = useTranslation();
  const { data, error } = useAlertRules(bucket.name);
  return (
    <Section title={t('alerts.title')} description={t('alerts.sectionText')}>
      {data && <Rules bucket={bucket} book={data} />}
      {!data && error && <Text role="alert">{errorText(error, t)}</Text>}
    </Section>
  );
}

function Rules({ bucket, book }: { bucket: Bucket; book: AlertRules }) {
  const { t } = useTranslation();
  const [chosen, edit] = useUrlDialogOf('rule');
  const [doomed, remove] = useUrlDialogOf('remove-rule');
  const edited = useRule(book, chosen);
  const going = useRule(book, doomed);
  const denied = bucket.may.edit ? undefined : t('denied.edit', { owners: bucket.owners.join(', ') });
  return (
    <Stack>
      {bucket.mode === 'off' && book.rules.length > 0 && <Alert color="gray">{t('alerts.modeOff')}</Alert>}
      {book.rules.length === 0 && <Text c="dimmed">{t('alerts.noRules')}</Text>}
      {book.rules.map((rule) => (
        <Group key={rule.id} justify="space-between" gap="sm">
          <Said rule={rule} />
          <Group gap="xs">
            <ActionButton size="xs" variant="default" denied={denied} aria-label={t('alerts.editRule', { rule: alertRuleText(rule, t) })} onClick={() => edit.open(String(rule.id))}>
              {t('alerts.edit')}
            </ActionButton>
            <ActionButton size="xs" variant="default" denied={denied} aria-label={t('alerts.removeRule', { rule: alertRuleText(rule, t) })} onClick={() => remove.open(String(rule.id))}>
              {t('alerts.remove')}
            </ActionButton>
          </Group>
        </Group>
      ))}
      <Group>
        <ActionButton variant="default" denied={denied ?? (book.rules.length >= most ? t('alerts.full') : undefined)} onClick={() => edit.open('new')}>
          {t('alerts.add')}
        </ActionButton>
      </Group>
      {denied === undefined && (
        <>
          <AlertRuleDialog bucket={bucket.name} book={book} editing={chosen === 'new' ? chosen : edited} onClose={edit.close} />
          <RemoveAlertRule bucket={bucket.name} book={book} rule={going} onClose={remove.close} />
        </>
      )}
    </Stack>
  );
}

/** The rule of an id; also one that somebody else removed since its dialog was opened, so that the input does not go with it. */
function useRule(book: AlertRules, id: string | null): AlertRule | null {
  const [seen, setSeen] = useState<AlertRule | null>(null);
  const present = book.rules.find((rule) => String(rule.id) === id) ?? null;
  if (present !== null && present !== seen) setSeen(present);
  return present ?? (seen !== null && String(seen.id) === id ? seen : null);
}

function Said({ rule }: { rule: AlertRule }) {
  const { t } = useTranslation();
  return (
    <div style={{ flex: '1 1 16rem', minWidth: 0 }}>
      <Text size="sm">{alertRuleText(rule, t)}</Text>
      <Group gap="xs" mt={4}>
        {rule.open ? <StateBadge tone="bad">{t('alerts.open')}</StateBadge> : <StateBadge tone={rule.enabled ? 'good' : 'off'}>{t(rule.enabled ? 'alerts.quiet' : 'alerts.off')}</StateBadge>}
        <Text size="sm" c="dimmed">
          {rule.open && (
            <>
              {t('alerts.since')} <RelativeTime at={rule.open.since} /> · {alertValueText(rule.open, t)} ·{' '}
            </>
          )}
          {t('alerts.end', { minutes: rule.end_minutes })}
        </Text>
      </Group>
    </div>
  );
}
