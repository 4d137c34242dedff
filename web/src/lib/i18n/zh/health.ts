import type { health as en } from '@/lib/i18n/en/health';

export const health: typeof en = {
  system: {
    title: '系统',
    description: 'Headgate 自身的状态。',
    version: '版本 {{version}}',
    database: '数据库',
    redis: 'Redis',
    good: '正常',
    watch: '正常，但有警告',
    bad: '没有响应',
    sync: 'Redis 中的定义',
    syncText: 'Redis 执行数据库中的定义。缺少的内容会自动补上，通常在一秒之内。',
    equal: '一致',
    behind: '落后',
    nonePending: 'Redis 拥有每个限流桶的当前版本。',
    pending_one: '{{count}} 个限流桶的当前版本尚未到达 Redis',
    pending_other: '{{count}} 个限流桶的当前版本尚未到达 Redis',
    owner: 'Redis 的归属',
    ownerText: '每个 Redis 带有其所属部署的标识。Headgate 不会写入其他部署的 Redis。',
    ours: '属于本部署',
    foreign: '属于另一套部署',
    ownerUnknown: '暂时未知',
    deployment: '本部署',
    redisOwner: '该 Redis 属于',
    foreignText: '在用“admin sync adopt”接管之前，不会向其中写入任何内容。',
  },
};
