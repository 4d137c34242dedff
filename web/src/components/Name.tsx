import { Anchor, Text } from '@mantine/core';
import type { CSSProperties } from 'react';
import { Link } from 'react-router';

const long = 40; // characters; from here on the breaks at hyphens and dots cost more lines than they help
const most = 2; // lines; a name of 128 characters would make its row the height of a screen

/** The name of a record at the head of its row. One that is very long is cut short for the eye, and whole on hover, to a screen reader and on its page. */
export function Name({ name, to }: { name: string; to?: string }) {
  const style: CSSProperties = name.length > long ? { wordBreak: 'break-all' } : { overflowWrap: 'anywhere' };
  const shared = { fw: 600, inherit: true, lineClamp: most, title: name, style };
  if (to === undefined) return <Text {...shared}>{name}</Text>;
  return (
    <Anchor component={Link} to={to} {...shared} w="fit-content">
      {name}
    </Anchor>
  );
}
