import { Alert } from '@mantine/core';
import { IconCircleCheck } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Bucket } from '@/lib/api/types';
import { useCalled } from '@/features/buckets/api/first-call';

// Few buckets have no call yet, and the snippets are long.
const WaitingForCall = lazy(async () => ({ default: (await import('./WaitingForCall')).WaitingForCall }));

/** While nobody has called the bucket yet: a call that runs, and whether it has come. */
export function FirstCall({ bucket }: { bucket: Bucket }) {
  const { data: called } = useCalled(bucket.name);
  const [waited, setWaited] = useState(false);
  if (called === false && !waited) setWaited(true);
  return (
    <div role="status">
      <Suspense fallback={null}>{called === false ? <WaitingForCall bucket={bucket} /> : called && waited && <Received />}</Suspense>
    </div>
  );
}

function Received() {
  const { t } = useTranslation();
  return (
    <Alert color="teal" mb="lg" icon={<IconCircleCheck aria-hidden />} title={t('firstCall.received')}>
      {t('firstCall.receivedText')}
    </Alert>
  );
}
