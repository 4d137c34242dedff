import { Fieldset, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './Section.module.css';

/** A titled group of inputs. */
export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Fieldset legend={title} variant="default" classNames={{ root: classes.group, legend: classes.legend }}>
      <Stack gap="md">{children}</Stack>
    </Fieldset>
  );
}
