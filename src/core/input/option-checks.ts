import { invalidOption } from '../errors/invalid-option.ts'
import type { NotifierError } from '../errors/notifier-error.ts'

/** The error of an invalid option. @param expected the valid values, to follow "must be" */
export function wrong(option: string, expected: string): NotifierError {
  return invalidOption(option, `The option "${option}" must be ${expected}.`)
}

/** @throws NotifierError `invalid_configuration` */
export function duration(option: string, value: number): number {
  if (!Number.isFinite(value) || value <= 0) throw wrong(option, 'a number of milliseconds above 0')
  return value
}

/**
 * @param example a valid value, to follow "such as"
 * @throws NotifierError `invalid_configuration`
 */
export function assertObject(option: string, value: unknown, example?: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Promise)
    throw wrong(option, `an object${suchAs(example)}${instead(value)}`)
}

/**
 * @param example a valid value, to follow "such as"
 * @throws NotifierError `invalid_configuration`
 */
export function assertMethods(
  option: string,
  value: unknown,
  methods: readonly string[],
  example?: string,
): void {
  const missing = methods.filter(
    (method) => typeof (value as Record<string, unknown> | null | undefined)?.[method] !== 'function',
  )
  if (missing.length > 0) {
    const right = `an object with the ${missing.length === 1 ? 'method' : 'methods'} ${missing.join(', ')}`
    throw wrong(option, `${right}${suchAs(example)}${instead(value)}`)
  }
}

function suchAs(example: string | undefined): string {
  return example === undefined ? '' : `, such as ${example}`
}

/** Names the missing part if the given value shows it. */
function instead(value: unknown): string {
  if (typeof value === 'function') return ', not a function: call it, and pass the result'
  if (value instanceof Promise) return ', not a promise: await it'
  return ''
}

/** @throws NotifierError `invalid_configuration` */
export function assertKeys(prefix: string, value: object, known: readonly string[]): void {
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue
    const option = `${prefix}${key}`
    const names = known.map((name) => prefix + name).join(', ')
    throw invalidOption(option, `"${option}" is not an option: use ${names}.`)
  }
}
