import { kept } from './kept';

const number = kept((language: string, digits: number) => new Intl.NumberFormat(language, { maximumFractionDigits: digits }));
const percent = kept((language: string, digits: number) => new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: digits }));

/** 1234567 as the language writes it. */
export function formatNumber(value: number, language: string, digits = 0): string {
  return number(language, digits).format(value);
}

/** 0.25 as "25%", as the language writes it. */
export function formatPercent(part: number, language: string, digits: number): string {
  return percent(language, digits).format(part);
}
