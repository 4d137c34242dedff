/** Whether a key press belongs to what has the focus (an input, an open dialog) and so is no shortcut of the console. */
export function belongsElsewhere(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.isComposing || event.repeat) return true;
  const target = event.target instanceof Element ? event.target : null;
  if (target?.closest('input, textarea, select, [contenteditable=""], [contenteditable="true"]')) return true;
  return document.querySelector('[role="dialog"]') !== null;
}

/** Whether this device's keyboards have a command key in place of Ctrl. */
export const onApple = /mac|iphone|ipad/i.test(navigator.platform);
