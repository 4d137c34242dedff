import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, ifMatch, unwrap } from './client';
import type { AlertRuleInput } from './types';

const refreshEvery = 15_000; // ms

interface Filter {
  bucket?: string;
  mine?: boolean;
  open?: boolean;
}

/** The open alerts, then the ended ones of the last 30 days, each the newest first. */
export function useAlerts(filter: Filter) {
  return useQuery({
    queryKey: ['alerts', filter],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/alerts', { params: { query: { ...filter, limit: 200 } }, signal })),
    refetchInterval: refreshEvery,
    select: (answer) => answer.items,
  });
}

const rulesKey = (bucket: string) => ['alert-rules', bucket] as const;

/** When the owners of a bucket are told. */
export function useAlertRules(bucket: string) {
  return useQuery({
    queryKey: rulesKey(bucket),
    queryFn: ({ signal }) =>
      unwrap(api.GET('/api/v1/buckets/{name}/alert-rules', { params: { path: { name: bucket } }, signal })),
    refetchInterval: refreshEvery,
  });
}

/** Replaces all rules of a bucket; base is the revision of the rules that the change was made to. */
export function useSetAlertRules(bucket: string) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ base, rules }: { base: number; rules: AlertRuleInput[] }) =>
      unwrap(
        api.PUT('/api/v1/buckets/{name}/alert-rules', {
          params: { path: { name: bucket }, header: ifMatch(base) },
          body: { rules },
        }),
      ),
    onSettled: () => {
      void queryClient.invalidateQueries({ queryKey: rulesKey(bucket) });
      void queryClient.invalidateQueries({ queryKey: ['alerts'] });
    },
  });
}
