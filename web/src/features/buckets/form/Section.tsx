import { Fieldset, Stack } from '@mantine/core';
import type { ReactNode } from 'react';

/** A titled group of inputs. */
export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Fieldset legend={title} variant="default" px={{ base: 'sm', sm: 'lg' }}>
      <Stack gap="md">{children}</Stack>
    </Fieldset>
  );
}
