import { Tooltip } from '@mantine/core';
import { cloneElement, useRef, useState, type PointerEvent, type ReactElement, type Ref } from 'react';

interface HintProps {
  label: string;
  /** In px; longer ones break into lines. */
  maw: number;
  /** An element that takes a ref. */
  children: ReactElement<{ ref?: Ref<HTMLElement>; onPointerEnter?: (event: PointerEvent) => void }>;
}

/** A tooltip that costs nothing until a pointer first comes: a list holds two in each row, and is drawn while one types. */
export function Hint({ label, maw, children }: HintProps) {
  const target = useRef<HTMLElement>(null);
  const [met, setMet] = useState(false);
  const onPointerEnter = ({ pointerType }: PointerEvent) => {
    if (pointerType !== 'touch') setMet(true);
  };
  return (
    <>
      {cloneElement(children, { ref: target, onPointerEnter })}
      {met && <Tooltip target={target} label={label} multiline maw={maw} defaultOpened />}
    </>
  );
}
