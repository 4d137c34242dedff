import { Badge } from '@mantine/core';
import { IconCircleCheck, IconClockPause, IconEye, IconPower, IconShieldCheck, type Icon } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Bucket } from '@/lib/api/types';
import { Hint } from '@/components/Hint';
import classes from './Badges.module.css';

const modeLooks: Record<string, { icon: Icon; className: string | undefined }> = {
  enforce: { icon: IconShieldCheck, className: classes.good },
  shadow: { icon: IconEye, className: classes.watch },
};
const offLook = { icon: IconPower, className: classes.off };

/** A bucket's mode: a word and a shape, not a colour alone. */
export function ModeBadge({ mode }: { mode: Bucket['mode'] }) {
  const { t } = useTranslation();
  const { icon: ModeIcon, className } = modeLooks[mode] ?? offLook;
  return (
    <Hint label={t(`mode.${mode}.meaning`)} maw={280}>
      <Badge variant="default" className={className} leftSection={<ModeIcon size={14} aria-hidden />} tt="none">
        {t(`mode.${mode}.name`)}
      </Badge>
    </Hint>
  );
}

/** Whether Redis has the bucket's present revision. */
export function SyncBadge({ sync }: { sync: Bucket['sync'] }) {
  const { t, i18n } = useTranslation();
  const synced = sync.state === 'synced';
  const SyncIcon = synced ? IconCircleCheck : IconClockPause;
  const text = synced ? t('sync.syncedLong') : t('sync.pendingLong', { revision: sync.installed_revision });
  const more = i18n.language === 'en' ? sync.message : ''; // the server says it in English alone
  return (
    <Hint label={more ? `${text} ${more}` : text} maw={320}>
      <Badge
        variant="default"
        className={synced ? classes.good : classes.watch}
        leftSection={<SyncIcon size={14} aria-hidden />}
        tt="none"
        data-sync={sync.state}
      >
        {synced ? t('sync.synced') : t('sync.pending')}
      </Badge>
    </Hint>
  );
}
