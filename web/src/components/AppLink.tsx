import { Anchor, Text } from '@mantine/core';
import { Link } from 'react-router';
import { useSeesApp } from '@/lib/api/names';

/** An app's name, which leads to its page where there is one for the reader. */
export function AppLink({ app }: { app: string }) {
  const sees = useSeesApp();
  const style = { overflowWrap: 'anywhere' } as const;
  if (!sees(app)) {
    return (
      <Text span display="block" style={style}>
        {app}
      </Text>
    );
  }
  return (
    <Anchor component={Link} to={`/apps/${app}`} display="block" style={style}>
      {app}
    </Anchor>
  );
}
