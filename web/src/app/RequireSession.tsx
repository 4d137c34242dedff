import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Navigate, useLocation, useNavigate } from 'react-router';
import { onSessionEnd } from '@/lib/api/client';
import { MeContext, useMeQuery } from '@/lib/api/me';
import { hasCode } from '@/lib/api/problem';
import { dropForeignDrafts, keepDrafts, onRestored } from '@/lib/drafts';
import { showDone } from '@/components/notify';
import { ErrorState } from '@/components/States';
import { PageLoader } from './PageLoader';
import { Shell } from './shell/Shell';

/** Lets logged-in people pass; others go to the login page, which leads back to where they wanted to be. */
export function RequireSession() {
  const { t } = useTranslation();
  const location = useLocation();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const me = useMeQuery();
  const path = location.pathname + location.search;
  const user = me.data?.name;
  const login = `/login?next=${encodeURIComponent(path)}`;

  useEffect(
    () =>
      onSessionEnd(() => {
        if (user !== undefined) keepDrafts(user);
        queryClient.clear();
        void navigate(login, { replace: true });
      }),
    [login, navigate, queryClient, user],
  );
  useEffect(() => {
    if (user !== undefined) dropForeignDrafts(user);
  }, [user]);
  useEffect(() => onRestored(() => showDone(t('unsaved.restored'), t)), [t]);

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
