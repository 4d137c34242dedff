import { Burger, Group, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { lazy, Suspense, useCallback, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, Outlet, useLocation } from 'react-router';
import { useMe } from '@/lib/api/me';
import { needTexts } from '@/lib/i18n';
import { Logo } from '@/components/Logo';
import { LeaveQuestion } from '@/components/LeaveQuestion';
import { PageLoader } from '@/app/PageLoader';
import { AlertBell } from './AlertBell';
import { BreakGlassBanner } from './BreakGlassBanner';
import { ConnectionBanner } from './ConnectionBanner';
import { Navigation } from './Navigation';
import { LanguageMenu, SchemeMenu } from '@/components/Preferences';
import { SearchButton } from './SearchButton';
import { useShortcuts } from './use-shortcuts';
import { UserMenu } from './UserMenu';
import classes from './Shell.module.css';

// Both open on a key press, so they are loaded by the first one.
const loadPalette = () => Promise.all([import('@/app/palette/Palette'), needTexts('asOf', 'buckets')]);
const Palette = lazy(async () => ({ default: (await loadPalette())[0].Palette }));
const ShortcutsSheet = lazy(async () => {
  const [{ ShortcutsSheet: Sheet }] = await Promise.all([import('./ShortcutsSheet'), needTexts('buckets')]);
  return { default: Sheet };
});

/** Begins to load the palette when its opening is near, so that nothing typed into it is lost. */
const expectPalette = () => void loadPalette().catch(() => undefined);

type Dialog = 'palette' | 'help';

/** The frame around every page behind the login. */
export function Shell() {
  const { t } = useTranslation();
  const { embedded } = useMe();
  const { pathname } = useLocation();
  const [opened, { toggle, close }] = useDisclosure();
  const main = useRef<HTMLElement>(null);
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const [asked, setAsked] = useState<readonly Dialog[]>([]); // one that was open stays, to fade away and to open at once
  const openDialog = useCallback((name: Dialog) => {
    setAsked((before) => (before.includes(name) ? before : [...before, name]));
    setDialog(name);
  }, []);
  const openPalette = useCallback(() => openDialog('palette'), [openDialog]);
  const openHelp = useCallback(() => openDialog('help'), [openDialog]);
  const closeDialog = useCallback(() => setDialog(null), []);
  useShortcuts({ onPalette: openPalette, onHelp: openHelp, onModifier: expectPalette });

  // A followed link disappears with its page: the focus then goes to the new page instead of nowhere.
  useEffect(() => {
    close();
    if (document.activeElement === document.body) main.current?.focus({ preventScroll: true });
  }, [pathname, close]);

  return (
    <div className={classes.shell}>
      <a className="skip-link" href="#main">
        {t('shell.skip')}
      </a>
      <header className={classes.header}>
        <Group h="100%" px={{ base: 'xs', sm: 'md' }} justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap">
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={t('shell.menu')}
              aria-expanded={opened}
            />
            <UnstyledButton component={Link} to="/overview" className={classes.brand}>
              <Logo />
              <Text component="span" fw={700} size="lg" className={classes.word}>
                Headgate
              </Text>
            </UnstyledButton>
            {embedded && (
              <Text component="span" size="xs" className={classes.demo} visibleFrom="sm" title={t('shell.embeddedLong')}>
                {t('shell.embedded')}
              </Text>
            )}
          </Group>
          <Group gap={4} wrap="nowrap">
            <SearchButton onClick={openPalette} onNear={expectPalette} />
            <AlertBell />
            <LanguageMenu />
            <SchemeMenu />
            <UserMenu onHelp={openHelp} />
          </Group>
        </Group>
      </header>
      <div className={classes.rooms} data-opened={opened || undefined}>
        <Navigation />
      </div>
      <main ref={main} id="main" tabIndex={-1} className={classes.main}>
        <ConnectionBanner />
        <BreakGlassBanner />
        <div className={classes.page}>
          <Suspense fallback={<PageLoader />}>
            <Outlet />
          </Suspense>
        </div>
      </main>
      <LeaveQuestion />
      <Suspense fallback={null}>
        {asked.includes('palette') && <Palette opened={dialog === 'palette'} onClose={closeDialog} onHelp={openHelp} />}
        {asked.includes('help') && <ShortcutsSheet opened={dialog === 'help'} onClose={closeDialog} />}
      </Suspense>
    </div>
  );
}
