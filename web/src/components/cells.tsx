import { Table } from '@mantine/core';
import type { ComponentProps } from 'react';

// Rows and cells that look like those of a Mantine table, which they stand in, for much less work: they take no
// style props and no theme. For what is drawn while somebody types, or every second.

const classes = Table.classes;

const both = (own: string | undefined, given: string | undefined) => (given === undefined ? own : `${own} ${given}`);

export function Tr({ className, ...rest }: ComponentProps<'tr'>) {
  return <tr {...rest} className={both(classes.tr, className)} data-with-row-border />;
}

export function Th({ className, ...rest }: ComponentProps<'th'>) {
  return <th {...rest} className={both(classes.th, className)} />;
}

export function Td({ className, ...rest }: ComponentProps<'td'>) {
  return <td {...rest} className={both(classes.td, className)} />;
}
