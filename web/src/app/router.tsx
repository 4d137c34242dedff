import type { ComponentType } from 'react';
import { createBrowserRouter, redirect, type LoaderFunctionArgs } from 'react-router';
import { bucketListQuery, bucketsQuery } from '@/features/buckets/api/list';
import { meQuery } from '@/lib/api/me';
import { needTexts } from '@/lib/i18n';
import type { Part } from '@/lib/i18n/parts';
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

/** A page whose code, and the parts of the texts that it shows beyond those of every page, are loaded side by side. */
function page<Name extends string>(load: () => Promise<Record<Name, ComponentType>>, name: Name, ...parts: Part[]) {
  return async () => {
    const [module] = await Promise.all([load(), needTexts(...parts)]);
    return { Component: module[name] };
  };
}

// Every page is loaded when it is first opened. "create" is a path of its own, since "new" may be a bucket's name.
export const router = createBrowserRouter([
  {
    path: '/login',
    ErrorBoundary: ErrorPage,
    HydrateFallback: PageLoader,
    lazy: page(() => import('@/features/auth/LoginPage'), 'LoginPage'),
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
            lazy: page(() => import('@/features/buckets/list/BucketsPage'), 'BucketsPage', 'buckets'),
          },
          {
            path: 'deleted',
            lazy: page(() => import('@/features/buckets/deleted/DeletedPage'), 'DeletedPage', 'buckets'),
          },
          {
            path: 'create/bucket',
            lazy: page(() => import('@/features/buckets/form/CreateBucketPage'), 'CreateBucketPage', 'buckets'),
          },
          {
            path: 'buckets/:name/edit',
            lazy: page(() => import('@/features/buckets/form/EditBucketPage'), 'EditBucketPage', 'buckets'),
          },
          {
            path: 'buckets/:name/:tab?',
            lazy: page(() => import('@/features/buckets/detail/BucketPage'), 'BucketPage', 'buckets', 'changes', 'figures'),
          },
          {
            path: 'apps',
            lazy: page(() => import('@/features/apps/AppsPage'), 'AppsPage', 'apps', 'buckets'),
          },
          {
            path: 'apps/:name',
            lazy: page(() => import('@/features/apps/AppPage'), 'AppPage', 'apps', 'buckets', 'figures'),
          },
          {
            path: 'people',
            lazy: page(() => import('@/features/people/PeoplePage'), 'PeoplePage', 'buckets', 'people'),
          },
          {
            path: 'tokens',
            lazy: page(() => import('@/features/tokens/TokensPage'), 'TokensPage', 'buckets', 'changes', 'tokens'),
          },
          {
            path: 'webhooks',
            lazy: page(() => import('@/features/webhooks/WebhooksPage'), 'WebhooksPage', 'buckets', 'changes', 'tokens', 'webhooks'),
          },
          {
            path: 'webhooks/:name',
            lazy: page(() => import('@/features/webhooks/WebhookPage'), 'WebhookPage', 'buckets', 'changes', 'tokens', 'webhooks'),
          },
          {
            path: 'as-of',
            lazy: page(() => import('@/features/audit/AsOfPage'), 'AsOfPage', 'asOf', 'buckets', 'changes'),
          },
          {
            path: 'audit',
            lazy: page(() => import('@/features/audit/AuditPage'), 'AuditPage', 'asOf', 'buckets', 'chain', 'changes'),
          },
          {
            path: 'overview',
            lazy: page(() => import('@/features/overview/OverviewPage'), 'OverviewPage', 'buckets', 'changes', 'overview'),
          },
          {
            path: 'alerts',
            lazy: page(() => import('@/features/alerts/AlertsPage'), 'AlertsPage'),
          },
          {
            path: 'system',
            lazy: page(() => import('@/features/system/SystemPage'), 'SystemPage', 'buckets', 'figures', 'health'),
          },
          {
            path: 'profile',
            lazy: page(() => import('@/features/profile/ProfilePage'), 'ProfilePage', 'buckets', 'people'),
          },
          { path: '*', Component: NotFoundPage },
        ],
      },
    ],
  },
]);
