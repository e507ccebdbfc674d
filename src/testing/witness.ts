import { AssertionError } from 'node:assert/strict'
import { inspect } from 'node:util'
import { Absent } from './test-api.ts'

/** Number of calls that a failure tells: enough for what a check compares. */
const TOLD_CALLS = 10
/** Characters of one call, and of each side of a comparison. */
const TOLD_LENGTH = 1_500
const TOLD_ITEMS = 20
const TOLD_DEPTH = 6

interface Call {
  readonly name: string
  readonly args: readonly unknown[]
  /** `none`: there is no answer yet. */
  end: 'none' | 'answer' | 'error'
  value?: unknown
}

/**
 * Runs a check of a part under test. A failure also tells the last calls of the part and of all that it returned, with
 * their answers, and both sides of the comparison.
 *
 * @param secrets appear in no failure
 */
export async function witnessed<Part extends object>(
  part: Part,
  secrets: readonly string[],
  run: (watched: Part) => Promise<void>,
): Promise<void> {
  const calls: Call[] = []
  const redact = (text: string): string =>
    secrets.reduce((rest, secret) => (secret === '' ? rest : rest.replaceAll(secret, '[secret]')), text)
  try {
    await run(watch(part, '', calls))
  } catch (error) {
    if (error instanceof Error && !(error instanceof Absent)) tell(error, calls, redact)
    throw error
  }
}

function watch<Part extends object>(part: Part, path: string, calls: Call[]): Part {
  return new Proxy(part, {
    get(target, key) {
      // Private fields belong to the part itself.
      const value: unknown = Reflect.get(target, key, target)
      // A proxy has to show a fixed property as it is.
      const fixed = Reflect.getOwnPropertyDescriptor(target, key)?.configurable === false
      if (fixed || typeof key === 'symbol') return value
      const name = path + key
      if (typeof value === 'function') return watchMethod(target, value as Method, name, calls)
      return isPart(value) ? watch(value, `${name}.`, calls) : value
    },
  })
}

type Method = (...args: unknown[]) => unknown

function watchMethod(target: object, method: Method, name: string, calls: Call[]): Method {
  return (...args) => {
    const call: Call = { name, args, end: 'none' }
    calls.push(call)
    if (calls.length > TOLD_CALLS) calls.shift()
    const answered = (value: unknown): unknown => {
      Object.assign(call, { end: 'answer', value })
      return isPart(value) ? watch(value, `${name}().`, calls) : value
    }
    const failed = (error: unknown): never => {
      Object.assign(call, { end: 'error', value: error })
      throw error
    }
    try {
      const value = Reflect.apply(method, target, args)
      return value instanceof Promise ? value.then(answered, failed) : answered(value)
    } catch (error) {
      return failed(error)
    }
  }
}

/** Data is not watched, but told. */
function hasMethods(value: object): boolean {
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return false
  if (isPlain(value)) return Object.values(value).some((field) => typeof field === 'function')
  return ![Map, Set, Date, Promise, Error].some((kind) => value instanceof kind)
}

const isPart = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && hasMethods(value)

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

function tell(error: Error, calls: readonly Call[], redact: (text: string) => string): void {
  const parts = [cut(error.message, 4 * TOLD_LENGTH)]
  // Node.js compares in the message, unless the check gave one.
  if (error instanceof AssertionError && !error.generatedMessage && error.expected !== undefined) {
    parts.push(`Expected: ${shown(error.expected)}`, `Actual: ${shown(error.actual)}`)
  }
  if (calls.length > 0) parts.push(`The last calls, and what they answered:\n${calls.map(line).join('\n')}`)
  const message = redact(parts.join('\n'))
  // Runners print the one or the other.
  const stack = redact((error.stack ?? '').replace(error.message, () => message))
  Object.assign(error, { message, stack })
  // Runners print the causes, too.
  for (let { cause } = error; cause instanceof Error; { cause } = cause) {
    Object.assign(cause, { message: redact(cause.message), stack: redact(cause.stack ?? '') })
  }
  if (!(error instanceof AssertionError)) return
  for (const side of ['actual', 'expected'] as const) {
    const text = inspect(error[side], { depth: null })
    if (redact(text) !== text) error[side] = redact(text)
  }
}

function line({ name, args, end, value }: Call): string {
  const asked = `${name}(${args.map((arg) => shown(arg)).join(', ')})`
  if (end === 'none') return `  ${cut(asked)} has not answered`
  return `  ${cut(asked)} ${end === 'answer' ? '->' : 'failed:'} ${shown(value)}`
}

function shown(value: unknown): string {
  if (value instanceof Error) return cut(chain(value))
  return cut(
    inspect(outline(value), { depth: null, maxStringLength: 200, breakLength: Infinity, compact: true }),
  )
}

/** A copy of bounded size. Of a part with methods, which may lead to a whole service, it has no more than the name. */
function outline(value: unknown, depth = TOLD_DEPTH): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Error) return named(chain(value))
  if (hasMethods(value)) return named(Reflect.get(value, 'constructor')?.name ?? 'Object')
  if (depth === 0) return named('…')
  const list = value instanceof Map || value instanceof Set ? [...value] : value
  if (Array.isArray(list)) {
    const items: unknown[] = list.slice(0, TOLD_ITEMS).map((item) => outline(item, depth - 1))
    return list.length > TOLD_ITEMS ? [...items, named(`${list.length - TOLD_ITEMS} more`)] : items
  }
  if (!isPlain(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, outline(field, depth - 1)]))
}

const named = (name: string): object => ({ [inspect.custom]: () => `[${name}]` })

/** The messages of an error and its causes. */
function chain({ name, message, cause }: Error): string {
  const own = `${name}: ${message}`
  return cause instanceof Error ? `${own} <- ${chain(cause)}` : own
}

function cut(text: string, length = TOLD_LENGTH): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`
}
