import { lazy, Suspense } from 'react';
import { useEver } from '@/lib/use-ever';
import type { DeleteByNameProps } from './DeleteByNameDialog';

const Dialog = lazy(async () => ({ default: (await import('./DeleteByNameDialog')).DeleteByNameDialog }));

/** Asks for the name of what is to be deleted; loaded when it is asked for. */
export function DeleteByName(props: DeleteByNameProps) {
  const asked = useEver(props.opened);
  return <Suspense fallback={null}>{asked && <Dialog {...props} />}</Suspense>;
}
