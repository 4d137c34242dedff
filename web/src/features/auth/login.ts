import { useMutation } from '@tanstack/react-query';
import { api, unwrap } from '@/lib/api/client';

export function useLogin() {
  return useMutation({
    mutationFn: (body: { name: string; password: string }) => unwrap(api.POST('/api/v1/auth/login', { body })),
  });
}
