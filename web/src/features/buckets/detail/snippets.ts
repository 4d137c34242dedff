import type { Bucket } from '@/lib/api/types';
import { isKeyed } from '@/lib/definition';

/** A Go program's part that acquires from this bucket. */
export function goSnippet(bucket: Bucket, app: string): string {
  const key = isKeyed(bucket.partition) ? ', client.Key("user:42")' : '';
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

decision, err := limits.Acquire(ctx, "${bucket.name}"${key})
if err != nil {
	return err // misuse or a done context; being limited is no error
}
if !decision.Allowed {
	return fmt.Errorf("limited, try again in %s", decision.RetryAfter)
}
`;
}

/** A command that drives load against this bucket at twice its rate, so that some of it is limited. */
export function loadCommand(bucket: Bucket, app: string): string {
  const rate = Math.max(2, Math.min(1000, Math.ceil((2000 * bucket.rate) / bucket.period_ms)));
  const key = isKeyed(bucket.partition) ? ' --key user:42' : '';
  return [
    'go run ./cmd/client-demo load \\',
    '  --redis-url "$HEADGATE_REDIS_URL" \\',
    `  --app ${app} --bucket ${bucket.name} \\`,
    `  --rate ${rate} --duration 30s${key}`,
  ].join('\n');
}
