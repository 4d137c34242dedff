import { Alert, List, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { AsOfGlass } from '@/lib/api/types';
import { RelativeTime } from '@/components/RelativeTime';

/** What break-glass had put into shadow at an instant, whatever the definitions said; nothing where it covered nothing. */
export function AsOfBreakGlass({ covered }: { covered: AsOfGlass[] | null }) {
  const { t } = useTranslation();
  if (!covered?.length) return null;
  return (
    <Alert color="orange" title={t('asOf.breakGlass')}>
      <List listStyleType="none" spacing={4}>
        {covered.map(({ scope, app, since, by, reason }) => (
          <List.Item key={`${scope} ${app}`}>
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {scope === 'all' ? t('breakGlass.all') : t('breakGlass.app', { app })}
              {by && ` · ${by}`}
              {reason && ` · ${reason}`}
              {since && (
                <>
                  {' · '}
                  <RelativeTime at={since} />
                </>
              )}
            </Text>
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
