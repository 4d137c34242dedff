/** The times over which an app's usage is shown, in seconds. */
export const rangeSeconds = { '5m': 300, '1h': 3_600, '24h': 86_400, '90d': 90 * 86_400 };

export type AppRange = keyof typeof rangeSeconds;

export const appRanges = Object.keys(rangeSeconds) as AppRange[];
