/** What a person wrote, in whatever language and direction; it breaks anywhere rather than widen the page. */
export function Written({ children }: { children: string }) {
  return <bdi style={{ overflowWrap: 'anywhere' }}>{children}</bdi>;
}
