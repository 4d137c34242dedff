import { Button, Group } from '@mantine/core';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useLocation, useNavigate, useSearchParams } from 'react-router';

/** Leads through a list that the server hands out by cursor. The cursor is in the URL, the way back in the history. */
export function CursorPager({ next }: { next: string | undefined }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const location = useLocation();
  const [params] = useSearchParams();
  const cursor = params.get('cursor') ?? '';
  const trail = ((location.state as { trail?: string[] } | null)?.trail ?? []).slice();

  function go(to: string, nextTrail: string[]) {
    const search = new URLSearchParams(params);
    if (to) search.set('cursor', to);
    else search.delete('cursor');
    void navigate({ search: search.toString() }, { state: { trail: nextTrail } });
    window.scrollTo({ top: 0 });
  }

  if (!cursor && !next) return null;
  return (
    <Group role="navigation" aria-label={t('pager.label')} justify="flex-end" mt="md" gap="xs">
      <Button
        variant="default"
        disabled={!cursor}
        leftSection={<IconChevronLeft size={16} aria-hidden />}
        onClick={() => go(trail.at(-1) ?? '', trail.slice(0, -1))}
      >
        {trail.length > 0 || !cursor ? t('pager.previous') : t('pager.first')}
      </Button>
      <Button
        variant="default"
        disabled={!next}
        rightSection={<IconChevronRight size={16} aria-hidden />}
        onClick={() => next && go(next, [...trail, cursor])}
      >
        {t('pager.next')}
      </Button>
    </Group>
  );
}
