/** What a change row may tell of. */
export const actions = [
  'bucket.create',
  'bucket.update',
  'bucket.delete',
  'bucket.raise',
  'app.create',
  'app.update',
  'app.delete',
  'member.set',
  'member.remove',
  'user.create',
  'user.update',
  'user.password',
  'user.link',
  'user.unlink',
  'login',
  'login.refused',
  'logout',
  'session.reuse',
  'token.create',
  'token.revoke',
  'token.refused',
  'refused',
  'redis.adopt',
  'identity.new',
] as const;

export const targetKinds = ['bucket', 'app', 'user', 'system'] as const;
