/** 1234567 as the language writes it. */
export function formatNumber(value: number, language: string, digits = 0): string {
  return new Intl.NumberFormat(language, { maximumFractionDigits: digits }).format(value);
}
