import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { profileRoom, roomsFor } from '@/app/rooms';
import { can, useMe } from '@/lib/api/me';
import { belongsElsewhere } from '@/lib/shortcuts';

const pause = 1_500; // ms within which the second key must follow "g"

interface Handlers {
  onPalette: () => void;
  onHelp: () => void;
  /** A key was pressed that goes with others; one of them opens the palette. */
  onModifier: () => void;
}

/** The keys that work on every page, except while something is being typed or a dialog is open. */
export function useShortcuts({ onPalette, onHelp, onModifier }: Handlers): void {
  const { t } = useTranslation();
  const me = useMe();
  const navigate = useNavigate();
  const goAt = useRef(-Infinity);

  useEffect(() => {
    function press(event: KeyboardEvent) {
      if (event.key === 'Control' || event.key === 'Meta') onModifier();
      if (belongsElsewhere(event)) return;
      const key = event.key.toLowerCase();
      const done = (act: () => void) => {
        event.preventDefault();
        act();
      };
      if (event.ctrlKey || event.metaKey) {
        if (key === 'k' && !event.altKey && !event.shiftKey) done(onPalette);
        return;
      }
      if (event.altKey) return;
      const going = event.timeStamp - goAt.current < pause;
      goAt.current = key === 'g' ? event.timeStamp : -Infinity;
      const room = going && [...roomsFor(me, t), profileRoom(t)].find((one) => one.key === key);
      if (room) done(() => void navigate(room.to));
      else if (event.key === '?') done(onHelp);
      else if (key === '/') done(() => focusSearch(onPalette));
      else if (key === 'c' && can(me, 'bucket.create')) done(() => void navigate('/create/bucket'));
    }
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [me, navigate, onHelp, onModifier, onPalette, t]);
}

/** Leads into the page's own search; a page without one gets the search over everything. */
function focusSearch(otherwise: () => void): void {
  const input = document.querySelector<HTMLInputElement>('main input[type="search"]');
  if (input) input.focus();
  else otherwise();
}
