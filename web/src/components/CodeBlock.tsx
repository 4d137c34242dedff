import { ActionIcon, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { copyText } from '@/lib/copy';
import classes from './CodeBlock.module.css';

const shownFor = 2_000; // ms

/** Copies a text. */
export function Copy({ value, what }: { value: string; what: string }) {
  const { t } = useTranslation();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), shownFor);
    return () => clearTimeout(timer);
  }, [copied]);

  return (
    <Tooltip label={copied ? t('common.copied') : t('common.copy', { what })}>
      <ActionIcon
        variant="subtle"
        color="gray"
        c="inherit"
        onClick={() => void copyText(value).then(() => setCopied(true))}
        aria-label={t('common.copy', { what })}
      >
        {copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
      </ActionIcon>
    </Tooltip>
  );
}

/** A snippet with its copy button. `label` names it. */
export function CodeBlock({ code, label }: { code: string; label: string }) {
  return (
    <div className={classes.block}>
      <pre className={classes.code} tabIndex={0} role="region" aria-label={label}>
        <code>{code}</code>
      </pre>
      <div className={classes.copy}>
        <Copy value={code} what={label} />
      </div>
    </div>
  );
}
