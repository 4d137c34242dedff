import { Alert, Button, Group, Modal, Progress, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { hasCode } from '@/lib/api/problem';
import { formatNumber } from '@/lib/format/numbers';
import { errorText } from '@/components/error-text';
import { verifyHistory, type Report, type VerifyLine } from './api/chain';
import { VerifyReport } from './VerifyReport';

/** Verifies the whole history while it is open. */
export function VerifyDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Modal opened={opened} onClose={onClose} title={t('chain.verifyTitle')} size="lg" closeButtonProps={{ 'aria-label': t('common.close') }}>
      <Verification onClose={onClose} />
    </Modal>
  );
}

function Verification({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const [attempt, setAttempt] = useState(1);
  const { progress, report, error } = useVerification(attempt);
  return (
    <Stack>
      {report ? <VerifyReport report={report} /> : !error && <Reading progress={progress} />}
      {error !== null && (
        <Alert color="red" role="alert">
          {hasCode(error, 'too_many') ? t('chain.busy') : errorText(error, t)}
        </Alert>
      )}
      <Group justify="flex-end">
        {error !== null && (
          <Button variant="default" onClick={() => setAttempt(attempt + 1)}>
            {t('common.retry')}
          </Button>
        )}
        <Button variant={report ? 'filled' : 'default'} onClick={onClose} data-autofocus>
          {t(report || error !== null ? 'common.close' : 'common.cancel')}
        </Button>
      </Group>
    </Stack>
  );
}

function Reading({ progress }: { progress: VerifyLine | null }) {
  const { t, i18n } = useTranslation();
  const number = (value: number) => formatNumber(value, i18n.language);
  return (
    <>
      <Text>{t('chain.verifyText')}</Text>
      <Progress value={progress ? (100 * progress.rows) / Math.max(1, progress.of) : 0} aria-label={t('chain.verifyTitle')} />
      <Text size="sm" role="status">
        {progress ? t('chain.read', { rows: number(progress.rows), of: number(progress.of) }) : t('chain.begins')}
      </Text>
    </>
  );
}

interface Verified {
  progress: VerifyLine | null;
  report: Report | null;
  error: unknown;
}

const begun: Verified = { progress: null, report: null, error: null };

/** Verifies once for each attempt, until nobody looks any more. */
function useVerification(attempt: number): Verified {
  const [state, setState] = useState({ attempt, ...begun });
  useEffect(() => {
    const leave = new AbortController();
    const set = (next: Partial<Verified>) => {
      if (!leave.signal.aborted) setState({ attempt, ...begun, ...next });
    };
    verifyHistory((progress) => set({ progress }), leave.signal).then(
      (report) => set({ report }),
      (error: unknown) => set({ error }),
    );
    return () => leave.abort();
  }, [attempt]);
  return state.attempt === attempt ? state : begun;
}
