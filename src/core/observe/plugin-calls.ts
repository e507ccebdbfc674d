import { isNotifierError, NotifierError } from '../errors/notifier-error.ts'
import { inTime } from '../loop/within.ts'
import type { Clock } from '../ports/clock.ts'

type AnyCall = (...args: never[]) => Promise<unknown>

/** Wraps the calls of one method of a plug-in. */
export interface Verb<Call extends AnyCall> {
  /** The timeout in milliseconds. Absent: none. */
  readonly withinMs?: number
  /** Returns the answer for the caller. What it throws counts as a fault of the plug-in. */
  answered?(
    answer: Awaited<ReturnType<Call>>,
    args: Parameters<Call>,
    durationMs: number,
  ): Awaited<ReturnType<Call>>
  /** The plug-in threw or did not answer in time. */
  failed?(args: Parameters<Call>, durationMs: number): void
}

/** A plug-in's methods, and those of its parts. */
export type Verbs<Plugin> = {
  readonly [Name in keyof Plugin]-?: NonNullable<Plugin[Name]> extends AnyCall
    ? Verb<NonNullable<Plugin[Name]>>
    : Verbs<NonNullable<Plugin[Name]>>
}

/** The exceptions of plug-ins, with the plug-in's name. */
const faults = new WeakMap<object, string>()

/**
 * A plug-in with the given verbs around its calls. Optional methods that it lacks stay absent. Its exceptions become
 * rejections, and {@link failureOf} recognizes them.
 *
 * @param part for people, such as `storage "sqlite"`
 */
export function watched<Plugin extends object>(
  part: string,
  plugin: Plugin,
  verbs: Verbs<Plugin>,
  clock: Clock,
): Plugin {
  const fault = (error: unknown): object => marked(part, error)
  const members = Object.entries<Verb<AnyCall> | Verbs<object>>(verbs).flatMap(([key, verb]) => {
    const name = key as keyof Plugin
    const member = plugin[name]
    if (typeof member === 'function') {
      // Looked up at each call, on the plug-in itself: it may be a class, or be patched later.
      const call: AnyCall = (...args) => (plugin[name] as AnyCall)(...args)
      return [[name, around(part, call, verb as Verb<AnyCall>, clock, fault)]]
    }
    return member === undefined ? [] : [[name, watched(part, member as object, verb as Verbs<object>, clock)]]
  })
  return Object.fromEntries(members)
}

/** A call with a verb around it. @param errorOf what its exceptions become */
export function around<Call extends AnyCall>(
  part: string,
  call: Call,
  verb: Verb<Call>,
  clock: Clock,
  errorOf: (error: unknown) => unknown = (error) => error,
): Call {
  const { withinMs, answered, failed } = verb as Verb<AnyCall>
  const wrapped: AnyCall = async (...args) => {
    const began = clock.monotonic()
    try {
      const work = () => call(...args)
      const answer = await (withinMs === undefined ? work() : inTime(part, work, withinMs, clock))
      return answered === undefined ? answer : answered(answer, args, clock.monotonic() - began)
    } catch (error) {
      failed?.(args, clock.monotonic() - began)
      throw errorOf(error)
    }
  }
  return wrapped as Call
}

function marked(part: string, error: unknown): object {
  const fault = typeof error === 'object' && error !== null ? error : new Error(String(error))
  faults.set(fault, part)
  return fault
}

/** The error of a public method: `service_unavailable` for an exception of a plug-in, otherwise the error itself. */
export function failureOf(error: unknown): unknown {
  const part = typeof error === 'object' && error !== null ? faults.get(error) : undefined
  return part === undefined ? error : failureOfPlugin(part, error)
}

/** `service_unavailable` with the fault as its cause, unless the plug-in threw a NotifierError. */
export function failureOfPlugin(part: string, error: unknown): unknown {
  if (isNotifierError(error)) return error
  const message = `The ${part} failed: see \`cause\`. Repeat the call later.`
  return new NotifierError('service_unavailable', { message, retryAfterMs: 1_000, cause: error })
}
