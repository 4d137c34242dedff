import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, ifMatch, unwrap } from './client';
import type { ApiCall } from '@/lib/curl';
import type { AlertRule, AlertRuleInput } from './types';

const refreshEvery = 15_000; // ms

interface Filter {
  bucket?: string;
  mine?: boolean;
  open?: boolean;
  cursor?: string;
}

const most = 200; // the server's most of one page

/** The open alerts, then the ended ones of the last 30 days, each the newest first, page by page. */
export function useAlerts(filter: Filter, limit = most) {
  return useQuery({
    queryKey: ['alerts', filter, limit],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/alerts', { params: { query: { ...filter, limit } }, signal })),
    refetchInterval: refreshEvery,
    placeholderData: keepPreviousData,
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
    mutationFn: ({ base, ...body }: { base: number; rules: AlertRuleInput[]; reason: string }) =>
      unwrap(
        api.PUT('/api/v1/buckets/{name}/alert-rules', {
          params: { path: { name: bucket }, header: ifMatch(base) },
          body,
        }),
      ),
    onSettled: () => {
      void queryClient.invalidateQueries({ queryKey: rulesKey(bucket) });
      void queryClient.invalidateQueries({ queryKey: ['alerts'] });
    },
  });
}

/** A rule as the server takes it back. */
export function ruleInput({ id, kind, percent, minutes, enabled }: AlertRule): AlertRuleInput {
  return { id, kind, percent, minutes, enabled };
}

/** The request that replaces the rules, for a shell. */
export function alertRulesCall(bucket: string, base: number, body: { rules: AlertRuleInput[]; reason: string }): ApiCall {
  return { method: 'PUT', path: `/buckets/${bucket}/alert-rules`, base, body };
}
