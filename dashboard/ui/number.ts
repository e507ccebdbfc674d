import { locale } from './time.tsx'

const plain = new Intl.NumberFormat(locale)

/** A number as people of the reader's region write it; "200+" where counting ended there. */
export function count(value: number, exact = true): string {
  return `${plain.format(value)}${exact ? '' : '+'}`
}

const share = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })

/** A share from 0 to 1. Failures never round to "100 %". "≈" where only a part was counted. */
export function percent(value: number, exact = true): string {
  return `${exact ? '' : '≈ '}${share.format(value < 1 ? Math.floor(value * 1_000) / 1_000 : 1)}`
}
