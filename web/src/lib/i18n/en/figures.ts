export const figures = {
  range: { live: 'Live', '1h': '1 h', '24h': '24 h', '90d': '90 d' },
  shares: {
    title: 'By app',
    over: {
      live: 'Permits in the last 5 minutes.',
      '1h': 'Permits in the last hour.',
      '24h': 'Permits in the last 24 hours.',
      '90d': 'Permits in the last 90 days.',
    },
    share: 'Share',
    none: 'No app asked for permits in this time.',
  },
  keys: {
    title: 'Most limited keys',
    over: 'In the last {{minutes}} minutes.',
    key: 'Key',
    none: 'No key was limited.',
    escaped: 'Not printable text, so it is written as a Go string literal.',
    excess: 'At most {{count}} too high',
  },
  instances: {
    title: 'SDK instances',
    text: 'Running now, and the revision that each acts on. One without traffic keeps its revision until its next call.',
    host: 'Instance',
    revision: 'Revision',
    since: 'started',
    none: 'No instance uses this bucket now.',
    allCurrent: 'All on the present revision',
    behind_one: '{{count}} behind',
    behind_other: '{{count}} behind',
  },
};
