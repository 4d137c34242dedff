import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { api, unwrap } from '@/lib/api/client';
import { showError } from '@/components/notify';

/** Ends the session and leads to the login page. */
export function useLogout() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(api.POST('/api/v1/auth/logout')),
    onSuccess: async () => {
      await navigate('/login');
      queryClient.clear();
    },
    onError: (error) => showError(error, t),
  });
}
