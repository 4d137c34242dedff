const browsers: readonly [RegExp, string][] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrom(e|ium)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];

const systems: readonly [RegExp, string][] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
];

/** What a person calls the program behind a User-Agent: "Firefox, Linux"; otherwise its first word, such as "curl/8.5". */
export function deviceOf(userAgent: string): string {
  const find = (list: readonly [RegExp, string][]) => list.find(([pattern]) => pattern.test(userAgent))?.[1];
  const known = [find(browsers), find(systems)].filter(Boolean).join(', ');
  return find(browsers) ? known : (userAgent.split(/\s/)[0] ?? '');
}
