import type { Bucket } from '@/lib/api/types';
import { isKeyed, limitKind } from '@/lib/definition';
import { ratePerSecond } from '@/lib/format/limit';
import acquireGo from './acquire.go.txt?raw';
import enterGo from './enter.go.txt?raw';
import liveSh from './live.sh.txt?raw';
import middlewareGo from './middleware.go.txt?raw';
import trySh from './try.sh.txt?raw';

// The templates are files of their own, so that a Go test compiles what is shown here. Names of buckets and apps need
// no quoting: they hold neither quotes nor backslashes.

const exampleKey = 'user:42';

/** The keys of the templates; web/snippets_test.go fills them the same way. */
function fill(template: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((text, [name, value]) => text.replaceAll(`__${name}__`, value), template);
}

/** A Go file that acquires from this bucket, or enters it and releases. */
export function goSnippet(bucket: Bucket, app: string): string {
  const key = isKeyed(bucket.partition) ? `, client.Key("${exampleKey}")` : '';
  return fill(limitKind(bucket.algorithm) === 'slots' ? enterGo : acquireGo, { APP: app, BUCKET: bucket.name, KEY: key });
}

/** A Go file with the bucket in front of an HTTP handler; null for slots, which are held rather than taken. */
export function middlewareSnippet(bucket: Bucket): string | null {
  if (limitKind(bucket.algorithm) === 'slots') return null;
  const key = isKeyed(bucket.partition) ? ', Key: httplimit.Header("X-User")' : '';
  return fill(middlewareGo, { BUCKET: bucket.name, KEY: key });
}

/** Calls of the API with a token: what Redis has of the bucket now. */
export function liveCommand(bucket: Bucket, origin: string): string {
  return fill(liveSh, { ORIGIN: origin, BUCKET: bucket.name });
}

/** One real acquire over the API. */
export function tryCommand(bucket: Bucket, app: string, origin: string): string {
  const body = JSON.stringify({ app, ...(isKeyed(bucket.partition) ? { key: exampleKey } : {}) });
  return fill(trySh, { ORIGIN: origin, BUCKET: bucket.name, BODY: body });
}

/** A command that drives load against this bucket at twice its rate, so that some of it is limited; null for slots. */
export function loadCommand(bucket: Bucket, app: string): string | null {
  const limit = ratePerSecond(bucket);
  if (limit === null) return null;
  const rate = Math.max(2, Math.min(1000, Math.ceil(2 * limit)));
  const key = isKeyed(bucket.partition) ? ` --key ${exampleKey}` : '';
  return [
    'go run ./cmd/client-demo load \\',
    '  --redis-url "$HEADGATE_REDIS_URL" \\',
    `  --app ${app} --bucket ${bucket.name} \\`,
    `  --rate ${rate} --duration 30s${key}`,
  ].join('\n');
}
