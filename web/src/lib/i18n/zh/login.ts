import type { login as en } from '@/lib/i18n/en/login';

export const login: typeof en = {
  login: {
    title: '登录',
    what: '共享、可审计的限流配置。',
    name: '用户名',
    password: '密码',
    showPassword: '显示或隐藏密码',
    submit: '登录',
    wrong: '用户名与密码不匹配，或账户已停用。',
  },
  signOn: {
    button: '使用 {{name}} 登录',
    or: '或',
    away: '{{name}} 目前没有响应，您仍可以尝试。',
    request: '请求 {{id}}',
    stale: '登录超时、已在其他标签页重新开始，或已经结束。请重新登录。',
    denied: '登录在完成之前被取消。',
    unavailable: '单点登录目前没有响应，请稍后再试。',
    failed: '单点登录未能成功。原因见服务器日志，管理员可按请求编号查找。',
    disabled: '您在此处的账户已停用，管理员可以启用它。',
    uninvited: '您在此处没有账户，您所在的组也没有被授予账户。请联系管理员。',
    taken: '您的用户名在此处属于另一个账户。如果那是您的账户，请让管理员将其关联。',
    name: '您在那里的名称不能用作此处的用户名。请联系管理员。',
  },
};
