import type { asOf as en } from '@/lib/i18n/en/asOf';

export const asOf: typeof en = {
  asOf: {
    title: '历史时点',
    description: '根据历史记录查看某一时刻生效的内容，以及当时谁可以更改。',
    open: '历史时点',
    at: '日期和时间（{{zone}}）',
    bucket: '限流桶（完整名称）',
    choose: '请选择日期和时间',
    chooseText: '随后会列出当时生效的所有限流桶。填写名称可查看单个限流桶，以及当时可以更改或查看它的所有人。',
    none: '当时没有生效的限流桶',
    unknown: '没有限流桶 {{name}}',
    unknownText: '保留的历史记录中没有此名称的限流桶。请填写当时的完整名称。',
    keptSince: '历史记录自 {{time}} 起保留，无法得知此前的情况。',
    admins: '当时的管理员',
    adminsText: '除负责人外，他们可以更改每个限流桶。',
    since: '生效自',
    couldChange: '谁可以更改',
    couldChangeText: '当时的负责人和管理员。',
    couldSee: '还有谁可以查看',
    couldSeeText: '当时其应用的成员和审计员。',
    notKept: '保留的历史记录无法说明。',
    breakGlass: '当时紧急放行生效：强制模式按影子模式运行',
    wasDisabled: '当时已停用，无法登录',
  },
  asOfState: {
    in_force: '当时生效。',
    deleted: '当时已删除。',
    absent: '当时尚不存在。',
    before_kept_history: '相关记录已被清除。',
  },
  asOfAs: { owner: '负责人', admin: '管理员', auditor: '审计员', app_owner: '应用负责人', app_viewer: '应用查看者' },
};
