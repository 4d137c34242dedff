/** The cache keys of everything about buckets. */
export const bucketKeys = {
  all: ['buckets'] as const,
  list: (query: object) => ['buckets', 'list', query] as const,
  one: (name: string) => ['buckets', 'one', name] as const,
  changes: (name: string) => ['buckets', 'changes', name] as const,
};
