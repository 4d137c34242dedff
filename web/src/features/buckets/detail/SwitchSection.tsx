import { Text } from '@mantine/core';
import { IconPower } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Bucket } from '@/lib/api/types';
import { hasCode } from '@/lib/api/problem';
import { definitionOf } from '@/lib/definition';
import { useUrlDialog } from '@/lib/url-dialog';
import { ActionButton } from '@/components/ActionButton';
import { errorText } from '@/components/error-text';
import { FormDialog } from '@/components/FormDialog';
import { showDone, showPending } from '@/components/notify';
import { useUpdateBucket } from '@/features/buckets/api/update';
import { ReasonForm } from '@/features/buckets/history/ReasonForm';
import { Affected } from './Affected';
import { DangerRow } from './DangerZone';

/** Switches the bucket off, or on again. A limit is never changed ahead of the server: the page waits until Redis has it. */
export function SwitchSection({ bucket }: { bucket: Bucket }) {
  const { t } = useTranslation();
  const [opened, { open, close }] = useUrlDialog('switch');
  const [base, setBase] = useState(bucket); // the decision stands on what its maker saw when the dialog opened
  const words = wordsOf(bucket);
  return (
    <DangerRow title={t(`danger.${words}`)} description={t(`danger.${words}Text`)}>
      <ActionButton
        color={words === 'on' ? 'water' : 'red.8'}
        leftSection={<IconPower size={16} aria-hidden />}
        onClick={() => {
          setBase(bucket);
          open();
        }}
        denied={bucket.may.edit ? undefined : t('denied.edit', { owners: bucket.owners.join(', ') })}
      >
        {t(`danger.${words}`)}
      </ActionButton>
      <FormDialog opened={opened && bucket.may.edit} onClose={close} title={t(`danger.${wordsOf(base)}Title`, { name: bucket.name })}>
        <SwitchForm bucket={base} onClose={close} />
      </FormDialog>
    </DangerRow>
  );
}

/** What the switch would do. */
function wordsOf(bucket: Bucket): 'on' | 'off' {
  return bucket.mode === 'off' ? 'on' : 'off';
}

function SwitchForm({ bucket, onClose }: { bucket: Bucket; onClose: () => void }) {
  const { t } = useTranslation();
  const update = useUpdateBucket(bucket.name);
  const words = wordsOf(bucket);
  const definition = { ...definitionOf(bucket), mode: words === 'on' ? ('enforce' as const) : ('off' as const) };

  function submit(reason: string) {
    update.mutate(
      { base: bucket.revision, definition, reason },
      {
        onSuccess: ({ revision, sync }) => {
          const show = sync.state === 'synced' ? showDone : showPending;
          show(t(sync.state === 'synced' ? 'saved.updated' : 'saved.updatedPending', { revision }), t);
          onClose();
        },
      },
    );
  }

  return (
    <ReasonForm
      onSubmit={submit}
      onCancel={onClose}
      submitLabel={t(`danger.${words}`)}
      saving={update.isPending}
      drastic={words === 'off'}
      curl={(reason) => ({ method: 'PUT', path: `/buckets/${bucket.name}`, base: bucket.revision, body: { ...definition, reason } })}
      error={update.error}
      message={update.error ? (hasCode(update.error, 'stale') ? t('stale.reopen') : errorText(update.error, t)) : null}
    >
      <Text>{t(`danger.${words}Text`)}</Text>
      <Affected bucket={bucket} />
    </ReasonForm>
  );
}
