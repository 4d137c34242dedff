import type { figures as en } from '@/lib/i18n/en/figures';

export const figures: typeof en = {
  range: { live: '实时', '1h': '1 小时', '24h': '24 小时', '90d': '90 天' },
  shares: {
    title: '按应用',
    over: {
      live: '最近 5 分钟的许可。',
      '1h': '最近 1 小时的许可。',
      '24h': '最近 24 小时的许可。',
      '90d': '最近 90 天的许可。',
    },
    share: '占比',
    others: '其他应用',
    other: '其他应用',
    none: '这段时间内没有应用请求许可。',
  },
  appUsage: {
    title: '用量',
    text: '应用在您可见的限流桶中请求和获得的许可，最多延迟 10 秒。',
    range: { '5m': '5 分钟', '1h': '1 小时', '24h': '24 小时', '90d': '90 天' },
    lastMinute: '每秒，最近一分钟',
    lastHour: '每秒，最近一小时',
    asked: '请求总量',
    permits: '个许可',
    refused: '受限占比',
    ofThem: '占请求总量',
  },
  keys: {
    title: '受限最多的键',
    over: '最近 {{minutes}} 分钟内。',
    key: '键',
    none: '没有键被限流。',
    escaped: '不是可打印文本，因此写作 Go 字符串字面量。',
    excess: '最多偏高 {{count}}',
  },
  instances: {
    title: 'SDK 实例',
    text: '当前运行的实例及其所依据的版本。没有流量的实例在下次调用前保持原版本。',
    host: '实例',
    revision: '版本',
    since: '启动于',
    none: '目前没有实例使用此限流桶。',
    allCurrent: '均为当前版本',
    behind_one: '{{count}} 个落后',
    behind_other: '{{count}} 个落后',
  },
};
