import { Checkbox, CheckIcon } from '@mantine/core';

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
  const { root, inner, input, icon } = Checkbox.classes;
  return (
    <div className={root} data-variant="filled">
      <div className={inner}>
        <input
          type="checkbox"
          className={`mantine-focus-auto ${input}`}
          data-variant="filled"
          aria-label={label}
          checked={checked}
          // The click and not the change tells whether Shift was held; the space key comes as a click too.
          onClick={(event) => onPick(event.shiftKey)}
          readOnly
        />
        <CheckIcon className={icon} />
      </div>
    </div>
  );
}
