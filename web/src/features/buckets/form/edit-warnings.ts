import type { Definition } from '@/lib/api/types';
import { isKeyed } from '@/lib/definition';

type Counted = Pick<Definition, 'algorithm' | 'partition' | 'shards'>;

export type EditWarning = 'anew' | 'needsKey' | 'needsEnter' | 'needsAcquire';

/** What an edit does beyond its fields, which its maker must know before: counts lost, and callers that become misuse. */
export function editWarnings(before: Counted, after: Counted): EditWarning[] {
  const held = before.algorithm === 'concurrency';
  const holds = after.algorithm === 'concurrency';
  const warnings: [EditWarning, boolean][] = [
    ['anew', before.algorithm !== after.algorithm || before.partition !== after.partition || before.shards !== after.shards],
    ['needsKey', isKeyed(after.partition) && !isKeyed(before.partition)],
    ['needsEnter', holds && !held],
    ['needsAcquire', held && !holds],
  ];
  return warnings.filter(([, due]) => due).map(([warning]) => warning);
}
