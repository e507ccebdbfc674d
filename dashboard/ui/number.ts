import { locale } from './time.tsx'

const plain = new Intl.NumberFormat(locale)

/** A number as people of the reader's region write it. */
export function count(value: number): string {
  return plain.format(value)
}
