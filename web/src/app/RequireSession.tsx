import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Navigate, useLocation, useNavigate } from 'react-router';
import { onSessionEnd } from '@/lib/api/client';
import { MeContext, useMeQuery } from '@/lib/api/me';
import { hasCode } from '@/lib/api/problem';
import { ErrorState } from '@/components/States';
import { PageLoader } from './PageLoader';
import { Shell } from './shell/Shell';

/** Lets logged-in people pass; others go to the login page, which leads back to where they wanted to be. */
export function RequireSession() {
  const location = useLocation();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const me = useMeQuery();
  const path = location.pathname + location.search;
  const login = `/login?next=${encodeURIComponent(path)}`;

  useEffect(
    () =>
      onSessionEnd(() => {
        queryClient.clear();
        void navigate(login, { replace: true });
      }),
    [login, navigate, queryClient],
  );

  if (me.data) {
    return (
      <MeContext value={me.data}>
        <Shell />
      </MeContext>
    );
  }
  if (hasCode(me.error, 'unauthorized')) return <Navigate to={login} replace />;
  if (me.error) return <ErrorState error={me.error} onRetry={() => void me.refetch()} standalone />;
  return <PageLoader />;
}
