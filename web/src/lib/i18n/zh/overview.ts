import type { overview as en } from '@/lib/i18n/en/overview';

export const overview: typeof en = {
  overview: {
    title: '概览',
    hello: '{{name}}，您好。以下是当前情况。',
    start: '了解如何开始',
    buckets: '限流桶',
    mine: '由您负责',
    limitedNow: '正在限流',
    sync: 'Redis 中',
    allSynced: '全部生效',
    pending_one: '{{count}} 个待同步',
    pending_other: '{{count}} 个待同步',
    yours: '您的',
    limited: '当前受限最多',
    limitedText: '最近 5 分钟请求的许可中被拒绝的比例。',
    limitedNone: '最近 5 分钟没有限流。',
    near: '接近限额',
    nearText: '尚未限流，但已放行至少 80% 的容量。',
    nearNone: '没有限流桶接近限额。',
    counts: '放行 {{granted}}，限流 {{limited}}',
    shadow: '（影子模式已放行）',
    unknown: 'Redis 目前没有响应，因此数据未知。',
    changes: '最近的变更',
    changesNone: '还没有任何变更。',
    wholeLog: '完整审计日志',
  },
};
