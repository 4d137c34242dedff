import { Alert, Code, List, Text } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { formatNumber } from '@/lib/format/numbers';
import { CodeBlock } from '@/components/CodeBlock';
import type { Fault, Report } from './api/chain';

/** What a verification found, and what it could not show. */
export function VerifyReport({ report }: { report: Report }) {
  const { t } = useTranslation();
  const good = report.faults.length === 0;
  return (
    <>
      <Alert
        color={good ? 'teal' : 'red'}
        role={good ? 'status' : 'alert'}
        icon={good ? <IconCircleCheck aria-hidden /> : <IconAlertTriangle aria-hidden />}
        title={t(good ? 'chain.good' : 'chain.bad')}
      >
        {good ? <Read report={report} /> : <Faults report={report} />}
      </Alert>
      {report.keys.length > 0 && (
        <Text size="sm">
          {t('chain.keys', { count: report.keys.length })}{' '}
          {report.keys.map((key) => (
            <Code key={key} style={{ overflowWrap: 'anywhere' }}>
              {key}
            </Code>
          ))}
        </Text>
      )}
      <Text size="sm">{t('chain.outside')}</Text>
      <CodeBlock code="admin audit verify --checkpoint @FILE --public-key KEY" label={t('chain.command')} />
    </>
  );
}

function Read({ report }: { report: Report }) {
  const { t, i18n } = useTranslation();
  const number = (value: number) => formatNumber(value, i18n.language);
  const { first, last, checkpoints, unchecked, unchained, pruned_to } = report;
  return (
    <List size="sm">
      <List.Item>{t('chain.rows', { count: last - first + 1, rows: number(last - first + 1), first: number(first), last: number(last) })}</List.Item>
      <List.Item>{t('chain.checkpoints', { count: checkpoints, points: number(checkpoints) })}</List.Item>
      {unchecked > 0 && <List.Item>{t('chain.unchecked', { count: unchecked, points: number(unchecked) })}</List.Item>}
      {unchained > 0 && <List.Item>{t('chain.unchained', { count: unchained, rows: number(unchained) })}</List.Item>}
      {pruned_to > 0 && <List.Item>{t('chain.pruned', { to: number(pruned_to) })}</List.Item>}
    </List>
  );
}

function Faults({ report: { faults, more_faults } }: { report: Report }) {
  const { t, i18n } = useTranslation();
  return (
    <>
      <List size="sm">
        {faults.map((fault) => (
          <List.Item key={`${fault.kind} ${fault.seq}`}>{t(`chain.fault.${fault.kind}`, range(fault, i18n.language))}</List.Item>
        ))}
        {more_faults > 0 && <List.Item>{t('chain.moreFaults', { count: more_faults })}</List.Item>}
      </List>
      <Text size="sm" mt="sm">
        {t('chain.next')}
      </Text>
    </>
  );
}

function range({ seq, to }: Fault, language: string) {
  const entry = formatNumber(seq, language);
  return to ? { context: 'range', seq: entry, to: formatNumber(to, language) } : { seq: entry };
}
