import { createBrowserRouter, redirect, type LoaderFunctionArgs } from 'react-router';
import { bucketListQuery, bucketsQuery } from '@/features/buckets/api/list';
import { meQuery } from '@/lib/api/me';
import { queryClient } from '@/lib/query';
import { ErrorPage } from './ErrorPage';
import { NotFoundPage } from './NotFoundPage';
import { RequireSession } from './RequireSession';
import { PageLoader } from './PageLoader';

/** Asks for what a page shows while its code and texts are on their way; nobody waits for it here. */
function ahead(ask: (params: URLSearchParams) => Promise<void>) {
  return {
    loader: ({ request }: LoaderFunctionArgs) => {
      void ask(new URL(request.url).searchParams);
      return null;
    },
    shouldRevalidate: () => false, // a page that is open asks for itself
  };
}

// Every page is loaded when it is first opened. "create" is a path of its own, since "new" may be a bucket's name.
export const router = createBrowserRouter([
  {
    path: '/login',
    ErrorBoundary: ErrorPage,
    HydrateFallback: PageLoader,
    lazy: async () => ({ Component: (await import('@/features/auth/LoginPage')).LoginPage }),
  },
  {
    path: '/',
    Component: RequireSession,
    ...ahead(() => queryClient.prefetchQuery(meQuery)),
    ErrorBoundary: ErrorPage,
    HydrateFallback: PageLoader,
    children: [
      { index: true, loader: () => redirect('/overview'), Component: PageLoader },
      {
        ErrorBoundary: ErrorPage,
        children: [
          {
            path: 'buckets',
            ...ahead((params) => queryClient.prefetchQuery(bucketsQuery(bucketListQuery(params)))),
            lazy: async () => ({ Component: (await import('@/features/buckets/list/BucketsPage')).BucketsPage }),
          },
          {
            path: 'deleted',
            lazy: async () => ({ Component: (await import('@/features/buckets/deleted/DeletedPage')).DeletedPage }),
          },
          {
            path: 'create/bucket',
            lazy: async () => ({ Component: (await import('@/features/buckets/form/CreateBucketPage')).CreateBucketPage }),
          },
          {
            path: 'buckets/:name/edit',
            lazy: async () => ({ Component: (await import('@/features/buckets/form/EditBucketPage')).EditBucketPage }),
          },
          {
            path: 'buckets/:name/:tab?',
            lazy: async () => ({ Component: (await import('@/features/buckets/detail/BucketPage')).BucketPage }),
          },
          {
            path: 'apps',
            lazy: async () => ({ Component: (await import('@/features/apps/AppsPage')).AppsPage }),
          },
          {
            path: 'apps/:name',
            lazy: async () => ({ Component: (await import('@/features/apps/AppPage')).AppPage }),
          },
          {
            path: 'people',
            lazy: async () => ({ Component: (await import('@/features/people/PeoplePage')).PeoplePage }),
          },
          {
            path: 'tokens',
            lazy: async () => ({ Component: (await import('@/features/tokens/TokensPage')).TokensPage }),
          },
          {
            path: 'webhooks',
            lazy: async () => ({ Component: (await import('@/features/webhooks/WebhooksPage')).WebhooksPage }),
          },
          {
            path: 'webhooks/:name',
            lazy: async () => ({ Component: (await import('@/features/webhooks/WebhookPage')).WebhookPage }),
          },
          {
            path: 'as-of',
            lazy: async () => ({ Component: (await import('@/features/audit/AsOfPage')).AsOfPage }),
          },
          {
            path: 'audit',
            lazy: async () => ({ Component: (await import('@/features/audit/AuditPage')).AuditPage }),
          },
          {
            path: 'overview',
            lazy: async () => ({ Component: (await import('@/features/overview/OverviewPage')).OverviewPage }),
          },
          {
            path: 'alerts',
            lazy: async () => ({ Component: (await import('@/features/alerts/AlertsPage')).AlertsPage }),
          },
          {
            path: 'system',
            lazy: async () => ({ Component: (await import('@/features/system/SystemPage')).SystemPage }),
          },
          {
            path: 'profile',
            lazy: async () => ({ Component: (await import('@/features/profile/ProfilePage')).ProfilePage }),
          },
          { path: '*', Component: NotFoundPage },
        ],
      },
    ],
  },
]);
