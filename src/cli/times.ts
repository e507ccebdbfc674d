import { usage } from './exit.ts'

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds of `90s`, `30m`, `2h` or `7d`. @throws Exit `usage` */
export function durationOf(text: string, flag: string): number {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? []
  if (number === undefined)
    throw usage(`--${flag} must be a duration such as 90s, 30m, 2h or 7d, not "${text}".`)
  return Number(number) * (UNITS[unit] ?? 1)
}

/** The time so long ago, or an ISO 8601 time. @throws Exit `usage` */
export function instantOf(text: string, flag: string): string {
  if (/^\d{4}-/.test(text) && !Number.isNaN(Date.parse(text))) return new Date(text).toISOString()
  if (!/^\d/.test(text) || /^\d{4}-/.test(text))
    throw usage(`--${flag} must be a duration such as 2h or 7d, or a time in ISO 8601, not "${text}".`)
  return new Date(Date.now() - durationOf(text, flag)).toISOString()
}
