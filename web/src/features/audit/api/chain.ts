import { useQuery } from '@tanstack/react-query';
import { api, unwrap } from '@/lib/api/client';
import { linesOf } from './lines';

const refreshEvery = 30_000; // ms; a checkpoint is signed once a minute

/** Where the chain of the history's hashes stands. */
export function useChain() {
  return useQuery({
    queryKey: ['audit', 'chain'],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/audit/chain', { signal })),
    refetchInterval: refreshEvery,
  });
}

/** What is wrong with the history, and where first; `to` is the last entry that it concerns, where that is known. */
export interface Fault {
  kind: 'altered' | 'removed' | 'inserted' | 'reordered' | 'cut_off' | 'rewritten' | 'signature' | 'foreign' | 'head';
  seq: number;
  to?: number;
}

/** What a verification found. */
export interface Report {
  unchained: number;
  first: number;
  last: number;
  pruned_to: number;
  checkpoints: number;
  unchecked: number;
  keys: string[];
  faults: Fault[];
  more_faults: number;
}

/** How far a verification is; the last one has its report. */
export interface VerifyLine {
  rows: number;
  of: number;
  report?: Report;
}

/** Verifies the whole history, and tells `progress` how far it is. */
export async function verifyHistory(progress: (line: VerifyLine) => void, signal: AbortSignal): Promise<Report> {
  const body = await unwrap(api.GET('/api/v1/audit/verify', { parseAs: 'stream', signal }));
  for await (const line of linesOf(body)) {
    const told = JSON.parse(line) as VerifyLine;
    if (told.report) return told.report;
    progress(told);
  }
  throw new TypeError('the verification was broken off');
}
