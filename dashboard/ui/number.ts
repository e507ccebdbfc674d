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

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

/** Bytes in the largest unit that fits, each 1,024 times the one before. */
export function size(bytes: number): string {
  const power = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), UNITS.length - 1)
  const unitDisplay = power === 0 ? 'long' : 'short'
  const options = {
    style: 'unit',
    unit: UNITS[power] ?? 'byte',
    unitDisplay,
    maximumFractionDigits: 1,
  } as const
  return new Intl.NumberFormat(locale, options).format(bytes / 1_024 ** power)
}
