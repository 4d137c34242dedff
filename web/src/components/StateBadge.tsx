import { Badge } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconCircleOff, IconCircleX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import classes from './StateBadge.module.css';

const looks = {
  good: { icon: IconCircleCheck, className: classes.good },
  watch: { icon: IconAlertTriangle, className: classes.watch },
  bad: { icon: IconCircleX, className: classes.bad },
  off: { icon: IconCircleOff, className: classes.off },
} as const;

/** How something is: a word and a shape, not a colour alone. */
export function StateBadge({ tone, children }: { tone: keyof typeof looks; children: ReactNode }) {
  const { icon: Icon, className } = looks[tone];
  return (
    <Badge variant="default" className={className} leftSection={<Icon size={14} aria-hidden />} tt="none" data-tone={tone}>
      {children}
    </Badge>
  );
}
