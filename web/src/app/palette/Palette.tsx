import { Kbd, Loader, Modal, Text, TextInput, useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { useLogout } from '@/app/shell/use-logout';
import { api, unwrap } from '@/lib/api/client';
import { useMe } from '@/lib/api/me';
import { bucketEntry, fixedEntries, matches, type Entry } from './entries';
import classes from './Palette.module.css';

interface PaletteProps {
  opened: boolean;
  onClose: () => void;
  onHelp: () => void;
}

/** Search over pages, actions and buckets; everything in it is reached by the keyboard alone. */
export function Palette({ opened, onClose, onHelp }: PaletteProps) {
  const { t } = useTranslation();
  // Without a transition: one opened again while it still faded away kept what was typed before, and took no focus.
  return (
    <Modal.Root opened={opened} onClose={onClose} padding={0} size={600} yOffset="12vh" transitionProps={{ duration: 0 }}>
      <Modal.Overlay />
      <Modal.Content aria-label={t('palette.title')}>
        <Modal.Body>
          <Search onClose={onClose} onHelp={onHelp} />
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

const typingPause = 120; // ms without typing before the server is asked

function useEntries(search: string, onClose: () => void, onHelp: () => void) {
  const { t, i18n } = useTranslation();
  const me = useMe();
  const navigate = useNavigate();
  const logout = useLogout();
  const { setColorScheme } = useMantineColorScheme();
  const [asked] = useDebouncedValue(search, typingPause);
  const buckets = useQuery({
    queryKey: ['buckets', 'palette', asked],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/buckets', { params: { query: { search: asked, limit: 8 } }, signal })),
    enabled: asked !== '',
    placeholderData: keepPreviousData,
  });
  const go = (path: string) => void navigate(path);
  const fixed = fixedEntries({ me, t, language: i18n.language, go, setScheme: setColorScheme, help: onHelp, logout: () => logout.mutate() });
  const found = search === '' ? [] : (buckets.data?.items ?? []).map((bucket) => bucketEntry(bucket.name, bucket.description, go));
  const wanted = search === '' ? fixed : fixed.filter((entry) => matches(entry, search));
  const entries = [...found, ...wanted].map((entry) => ({
    ...entry,
    run: () => {
      onClose();
      entry.run();
    },
  }));
  return { entries, searching: search !== '' && (buckets.isFetching || asked !== search) };
}

function Search({ onClose, onHelp }: Pick<PaletteProps, 'onClose' | 'onHelp'>) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState(0);
  const { entries, searching } = useEntries(typed.trim(), onClose, onHelp);
  const active = Math.min(chosen, entries.length - 1);

  function press(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing) return;
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined && entries.length > 0) {
      event.preventDefault();
      setChosen((active + step + entries.length) % entries.length);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      entries[active]?.run();
    }
  }

  return (
    <div>
      <TextInput
        data-autofocus
        size="lg"
        variant="unstyled"
        className={classes.input}
        placeholder={t('palette.placeholder')}
        aria-label={t('palette.title')}
        role="combobox"
        aria-expanded
        aria-controls="palette-list"
        aria-autocomplete="list"
        aria-activedescendant={entries[active] ? optionId(entries[active]) : undefined}
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
        value={typed}
        onChange={(event) => {
          setTyped(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={press}
        leftSection={<IconSearch size={20} aria-hidden />}
        rightSection={searching ? <Loader size="xs" aria-hidden /> : <Kbd size="xs">Esc</Kbd>}
        rightSectionWidth={56}
      />
      <List entries={entries} active={active} onPoint={setChosen} />
      {entries.length === 0 && (
        <Text c="dimmed" ta="center" py="lg" role="status">
          {searching ? t('common.loading') : t('palette.nothing')}
        </Text>
      )}
    </div>
  );
}

const optionId = (entry: Entry) => `palette-${entry.id}`;

interface ListProps {
  entries: Entry[];
  active: number;
  onPoint: (index: number) => void;
}

function List({ entries, active, onPoint }: ListProps) {
  const { t } = useTranslation();
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    box.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [active, entries.length]);
  const groups = [...new Set(entries.map((entry) => entry.group))];
  return (
    <div id="palette-list" role="listbox" aria-label={t('palette.title')} className={classes.list} ref={box} tabIndex={-1}>
      {groups.map((group) => (
        <div key={group} role="group" aria-label={t(`palette.${group}`)}>
          <Text size="xs" c="dimmed" fw={600} className={classes.group} aria-hidden>
            {t(`palette.${group}`)}
          </Text>
          {entries.map((entry, index) =>
            entry.group === group ? (
              <Option key={entry.id} entry={entry} selected={index === active} onPoint={() => onPoint(index)} />
            ) : null,
          )}
        </div>
      ))}
    </div>
  );
}

function Option({ entry, selected, onPoint }: { entry: Entry; selected: boolean; onPoint: () => void }) {
  const Icon = entry.icon;
  return (
    // The input keeps the focus and has the keys; the pointer is a second way.
    <div id={optionId(entry)} role="option" aria-selected={selected} className={classes.option} onClick={entry.run} onMouseMove={onPoint}>
      <Icon size={18} stroke={1.6} aria-hidden />
      <span className={classes.label}>
        {entry.label}
        {entry.detail && <span className={classes.detail}> {entry.detail}</span>}
      </span>
      {entry.keys && (
        <span className={classes.keys} aria-hidden>
          {entry.keys.map((key) => (
            <Kbd key={key} size="xs">
              {key}
            </Kbd>
          ))}
        </span>
      )}
    </div>
  );
}
