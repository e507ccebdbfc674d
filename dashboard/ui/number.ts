import { locale } from './time.tsx'

const plain = new Intl.NumberFormat(locale)

/** A number as people of the reader's region write it; "200+" where counting ended there. */
export function count(value: number, exact = true): string {
  return `${plain.format(value)}${exact ? '' : '+'}`
}
