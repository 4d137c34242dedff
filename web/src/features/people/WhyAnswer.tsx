import { List, Stack, Text } from '@mantine/core';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import type { Why } from '@/lib/api/types';
import { hasCode } from '@/lib/api/problem';
import { allApps } from '@/lib/definition';
import { errorText } from '@/components/error-text';
import { StateBadge } from '@/components/StateBadge';
import { useWhy, type Question } from './api/why';

/** Yes with all that gives it, or no with what is missing and who could grant that. */
export function WhyAnswer(question: Question) {
  const { t } = useTranslation();
  const { data: why, error } = useWhy(question);
  if (error) return <Text role="status">{hasCode(error, 'not_found') ? absentText(question, t) : errorText(error, t)}</Text>;
  if (!why) return null;
  return (
    <Stack gap="xs" role="status" aria-live="polite">
      <div>
        <StateBadge tone={why.allowed ? 'good' : 'bad'}>{t(why.allowed ? 'why.yes' : 'why.no')}</StateBadge>
      </div>
      {why.disabled && <Text>{t('why.disabled')}</Text>}
      {why.through.length > 0 && (
        <Lines title={t(why.allowed ? 'why.through' : 'why.wouldThrough')} grounds={why.through} line={(one) => groundText(one, t)} />
      )}
      {why.missing.length > 0 && (
        <Lines title={t(why.disabled ? 'why.wouldMissing' : 'why.missing')} grounds={why.missing} line={(one) => missingText(one, t)} />
      )}
      {why.service && (
        <Text size="sm" c="dimmed">
          {t('why.service')}
        </Text>
      )}
    </Stack>
  );
}

/** The server does not tell which of them is not there. */
function absentText({ user, of, object }: Question, t: TFunction): string {
  return of === 'all' ? t('people.nobody', { user }) : t(`why.absent_${of}`, { user, object });
}

type Ground = Why['through'][number];

interface LinesProps {
  title: string;
  grounds: Ground[];
  line: (one: Ground) => string;
}

function Lines({ title, grounds, line }: LinesProps) {
  return (
    <div>
      <Text size="sm" fw={600} mb={4}>
        {title}
      </Text>
      <List size="sm" spacing={4} style={{ overflowWrap: 'anywhere' }}>
        {grounds.map((one) => (
          <List.Item key={one.ground}>{line(one)}</List.Item>
        ))}
      </List>
    </div>
  );
}

function groundText(one: Ground, t: TFunction): string {
  const words = t(`ground.${one.ground.replace(' ', '_')}`, { defaultValue: one.ground });
  if (one.apps.length === 0) return words;
  return t('why.ofApps', { ground: words, apps: one.apps.includes(allApps) ? t('why.anyApp') : one.apps.join(', ') });
}

function missingText(one: Ground, t: TFunction): string {
  const ground = groundText(one, t);
  return one.by.length === 0 ? t('why.byAdmins', { ground }) : t('why.by', { ground, users: one.by.join(', ') });
}
