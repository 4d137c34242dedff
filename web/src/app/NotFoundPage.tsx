import { NotFoundState } from '@/components/States';

export function NotFoundPage() {
  return <NotFoundState />;
}
