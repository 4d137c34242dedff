import type { Bucket } from '@/lib/api/types';
import { isKeyed, limitKind } from '@/lib/definition';
import { ratePerSecond } from '@/lib/format/limit';

/** A Go program's part that acquires from this bucket, or enters it and releases. */
export function goSnippet(bucket: Bucket, app: string): string {
  const key = isKeyed(bucket.partition) ? ', client.Key("user:42")' : '';
  return connect(app) + (limitKind(bucket.algorithm) === 'slots' ? enter : acquire)(bucket.name, key);
}

function connect(app: string): string {
  return `import (
	"github.com/headgate/headgate/client"
	"github.com/redis/go-redis/v9"
)

options, err := redis.ParseURL(os.Getenv("HEADGATE_REDIS_URL"))
if err != nil {
	return err
}
limits, err := client.New(redis.NewClient(options), "${app}")
if err != nil {
	return err
}

`;
}

function acquire(bucket: string, key: string): string {
  return `decision, err := limits.Acquire(ctx, "${bucket}"${key})
if err != nil {
	return err // misuse or a done context; being limited is no error
}
if !decision.Allowed {
	return fmt.Errorf("limited, try again in %s", decision.RetryAfter)
}
`;
}

function enter(bucket: string, key: string): string {
  return `lease, decision, err := limits.Enter(ctx, "${bucket}"${key})
if err != nil {
	return err // misuse or a done context; being limited is no error
}
if !decision.Allowed {
	return fmt.Errorf("no slot is free, try again in %s", decision.RetryAfter)
}
defer lease.Release()
return work(lease.Context()) // ends when the lease is lost
`;
}

/** A command that drives load against this bucket at twice its rate, so that some of it is limited; null for slots. */
export function loadCommand(bucket: Bucket, app: string): string | null {
  const limit = ratePerSecond(bucket);
  if (limit === null) return null;
  const rate = Math.max(2, Math.min(1000, Math.ceil(2 * limit)));
  const key = isKeyed(bucket.partition) ? ' --key user:42' : '';
  return [
    'go run ./cmd/client-demo load \\',
    '  --redis-url "$HEADGATE_REDIS_URL" \\',
    `  --app ${app} --bucket ${bucket.name} \\`,
    `  --rate ${rate} --duration 30s${key}`,
  ].join('\n');
}
