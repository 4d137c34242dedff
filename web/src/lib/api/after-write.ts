/**
 * What a write does when it has ended: what it touched is read again. A success waits for that, so that nobody sees the
 * old beside it; a failure is told at once, for where writing fails, reading may take long.
 */
export function afterWrite(readAgain: () => Promise<unknown>) {
  return <T>(_data: T | undefined, error: unknown): Promise<unknown> | undefined => {
    const read = readAgain();
    return error ? undefined : read;
  };
}
