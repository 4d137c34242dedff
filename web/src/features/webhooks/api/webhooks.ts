import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { afterWrite } from '@/lib/api/after-write';
import { api, ifMatch, unwrap } from '@/lib/api/client';
import type { Webhook, WebhookInput } from '@/lib/api/types';

const refreshEvery = 15_000; // ms

export function useWebhooks(enabled: boolean) {
  return useQuery({
    queryKey: ['webhooks', 'list'],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/webhooks', { signal })),
    refetchInterval: refreshEvery,
    enabled,
  });
}

export function useWebhook(name: string) {
  return useQuery({
    queryKey: ['webhooks', 'one', name],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/webhooks/{name}', { params: { path: { name } }, signal })),
    refetchInterval: refreshEvery,
  });
}

function useWebhooksChanged() {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: ['webhooks'] });
}

export function useCreateWebhook() {
  return useMutation({
    mutationFn: (body: WebhookInput & { name: string }) => unwrap(api.POST('/api/v1/webhooks', { body })),
    onSuccess: useWebhooksChanged(),
    gcTime: 0, // the answer holds the secret
  });
}

export function useUpdateWebhook(name: string) {
  return useMutation({
    mutationFn: ({ base, body }: { base: number; body: WebhookInput }) =>
      unwrap(api.PUT('/api/v1/webhooks/{name}', { params: { path: { name }, header: ifMatch(base) }, body })),
    onSettled: afterWrite(useWebhooksChanged()),
  });
}

export function useDeleteWebhook(name: string) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ base, reason }: { base: number; reason: string }) =>
      unwrap(api.DELETE('/api/v1/webhooks/{name}', { params: { path: { name }, header: ifMatch(base), query: { reason } } })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['webhooks', 'list'] }),
  });
}

export function useTestWebhook(name: string) {
  return useMutation({
    mutationFn: () => unwrap(api.POST('/api/v1/webhooks/{name}/test', { params: { path: { name } } })),
    onSettled: afterWrite(useWebhooksChanged()),
  });
}

export function useRenewSecret(name: string) {
  return useMutation({
    mutationFn: () => unwrap(api.POST('/api/v1/webhooks/{name}/secret', { params: { path: { name } } })),
    onSettled: afterWrite(useWebhooksChanged()),
    gcTime: 0, // the answer holds the secret
  });
}

export function useRedeliver(name: string) {
  return useMutation({
    mutationFn: (body: { from: number; reason: string }) =>
      unwrap(api.POST('/api/v1/webhooks/{name}/redeliver', { params: { path: { name } }, body })),
    onSettled: afterWrite(useWebhooksChanged()),
  });
}

/** An endpoint's fields as the server takes them back. */
export function inputOf(webhook: Webhook): Required<Omit<WebhookInput, 'reason'>> {
  const { url, description, actions, target_kind, target, checkpoints, enabled } = webhook;
  return { url, description, actions, target_kind, target, checkpoints, enabled };
}
