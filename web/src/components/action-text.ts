import type { TFunction } from 'i18next';

/** What a change row's action means, where nothing follows: "bucket.update" stands under the key action.bucket_update. */
export function actionText(action: string, t: TFunction): string {
  return t(`action.${action.replaceAll('.', '_')}`, { context: 'alone', defaultValue: action });
}

/** The same in front of what it was done to. */
export function actionTextOn(action: string, t: TFunction): string {
  return t(`action.${action.replaceAll('.', '_')}`, { defaultValue: action });
}

/** An action as it is offered for choosing: many are "edited", so the name that the API uses tells them apart. */
export function actionLabel(action: string, t: TFunction): string {
  return `${actionText(action, t)} (${action})`;
}
