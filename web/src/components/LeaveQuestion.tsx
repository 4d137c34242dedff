import { lazy, Suspense, useEffect } from 'react';
import { useBlocker } from 'react-router';
import { answerLeave, anyDirty, isDecided, useFormsSeen, useLeaveQuestion } from '@/lib/unsaved';
import { dialogParam } from '@/lib/url-dialog';

// There is nothing to ask before the first form, which brings most of the dialog's code itself.
const LeaveDialog = lazy(async () => ({ default: (await import('./LeaveDialog')).LeaveDialog }));

const dialogOf = (search: string) => new URLSearchParams(search).get(dialogParam);

/** Asks before a page or a dialog with unsaved input is left; there is one for the whole console. The way to the login stays free. */
export function LeaveQuestion() {
  const seen = useFormsSeen();
  const asked = useLeaveQuestion();
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) =>
      !isDecided() &&
      nextLocation.pathname !== '/login' &&
      (currentLocation.pathname !== nextLocation.pathname || dialogOf(currentLocation.search) !== dialogOf(nextLocation.search)) &&
      anyDirty(),
  );
  useEffect(() => {
    function warn(event: BeforeUnloadEvent) {
      if (anyDirty()) event.preventDefault();
    }
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, []);

  function answer(leave: boolean) {
    if (asked) answerLeave(leave);
    else if (leave) blocker.proceed?.();
    else blocker.reset?.();
  }

  return <Suspense fallback={null}>{seen && <LeaveDialog opened={asked || blocker.state === 'blocked'} onAnswer={answer} />}</Suspense>;
}
