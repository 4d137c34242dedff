import { Button, type ButtonProps, Tooltip } from '@mantine/core';
import { useId, type ReactNode } from 'react';
import { Link } from 'react-router';

interface ActionButtonProps extends ButtonProps {
  children: ReactNode;
  /** Where the button leads, or what it does. */
  to?: string;
  onClick?: () => void;
  'aria-label'?: string;
  /** Why the action is not allowed; the button then stays visible and reachable by keyboard but does nothing. */
  denied?: string | undefined;
}

/** A button for an action that may be forbidden: it never hides, it says what is missing. */
export function ActionButton({ children, to, onClick, denied, ...rest }: ActionButtonProps) {
  const reason = useId();
  if (denied !== undefined) {
    return (
      <Tooltip label={denied} multiline maw={320} events={{ hover: true, focus: true, touch: true }}>
        <Button {...rest} variant="default" data-disabled aria-disabled aria-describedby={reason} type="button">
          {children}
          <span id={reason} className="visually-hidden">
            {denied}
          </span>
        </Button>
      </Tooltip>
    );
  }
  if (to !== undefined) {
    return (
      <Button {...rest} component={Link} to={to}>
        {children}
      </Button>
    );
  }
  return (
    <Button {...rest} onClick={onClick}>
      {children}
    </Button>
  );
}
