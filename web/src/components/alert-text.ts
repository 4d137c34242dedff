import type { TFunction } from 'i18next';

interface Rule {
  kind: string;
  percent: number;
  minutes: number;
}

/** What an alert rule says, in words. */
export function alertRuleText({ kind, percent, minutes }: Rule, t: TFunction): string {
  return t(`alerts.${kind}`, { percent, minutes, defaultValue: kind });
}

/** How far the share went; one decimal says enough. */
export function alertValueText(alert: { value: number; peak: number }, t: TFunction): string {
  const short = (n: number) => Number(n.toFixed(1));
  return t('alerts.now', { value: short(alert.value), peak: short(alert.peak) });
}

/** How many minutes below end an alert, as the server has it. */
export function endMinutes(minutes: number): number {
  return Math.min(Math.max(minutes, 5), 30);
}
