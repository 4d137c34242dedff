import { Checkbox, CheckIcon } from '@mantine/core';
import classes from './RowCheckbox.module.css';

interface RowCheckboxProps {
  /** What it does, in words. */
  label: string;
  checked: boolean;
  /** `range` is set when Shift was held. */
  onPick: (range: boolean) => void;
}

/**
 * Looks like a Checkbox, without its label and messages. A Checkbox gives itself an id once it is there, and so is drawn
 * twice, the second time at once with all others of the list: too much for one task while somebody types.
 */
export function RowCheckbox({ label, checked, onPick }: RowCheckboxProps) {
  const { inner, input, icon } = Checkbox.classes;
  return (
    <div className={`${classes.box} ${inner}`}>
      <input
        type="checkbox"
        className={`mantine-focus-auto ${input}`}
        aria-label={label}
        checked={checked}
        // The click and not the change tells whether Shift was held; the space key comes as a click too.
        onClick={(event) => onPick(event.shiftKey)}
        readOnly
      />
      <CheckIcon className={icon} />
    </div>
  );
}
