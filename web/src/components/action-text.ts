import type { TFunction } from 'i18next';

/** What a change row's action means: "bucket.update" stands under the key action.bucket_update. */
export function actionText(action: string, t: TFunction): string {
  return t(`action.${action.replaceAll('.', '_')}`, { defaultValue: action });
}
