/**
 * Keeps what `make` made for its arguments. A formatter of Intl takes longer to make than all that it then formats on a
 * page, and live pages format each second. The arguments must be few: languages, zones, options that the code names.
 */
export function kept<A extends readonly (string | number | boolean)[], T>(make: (...args: A) => T): (...args: A) => T {
  const made = new Map<string, T>();
  return (...args) => {
    const key = args.join('\n');
    let found = made.get(key);
    if (found === undefined) made.set(key, (found = make(...args)));
    return found;
  };
}
