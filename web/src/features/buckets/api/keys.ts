/** The cache keys of everything about buckets. */
export const bucketKeys = {
  all: ['buckets'] as const,
  list: (query: object) => ['buckets', 'list', query] as const,
  one: (name: string) => ['buckets', 'one', name] as const,
  usage: (name: string, range: string) => ['buckets', 'usage', name, range] as const,
  olderUsage: (name: string, range: string) => ['buckets', 'older-usage', name, range] as const,
  changes: (name: string) => ['buckets', 'changes', name] as const,
};
