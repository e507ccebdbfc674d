import { NotifierError } from '../errors/notifier-error.ts'
import { assertOptionNames } from '../errors/option-names.ts'
import { wrong } from '../input/option-checks.ts'
import { createDeadline, type Deadline } from '../loop/deadline.ts'
import { within } from '../loop/within.ts'
import { faultsOf } from '../observe/faults-of.ts'
import { failureOfPlugin } from '../observe/plugin-calls.ts'
import type { Clock } from '../ports/clock.ts'
import type { Running, StartOptions, StopOptions } from './api.ts'
import { type Calls, type CallsOptions, createCalls } from './calls.ts'

/** Start and stop, and the calls in between, for which a stop waits. */
export interface Lifecycle extends Pick<Running, 'start' | 'stop' | 'maintenance'>, Pick<Calls, 'guard'> {
  /** Why calls are refused; null: they are not. */
  refusal(): NotifierError | null
  /** Under maintenance nothing is stored. */
  maintained(): boolean
  /** Whether a start has been tried. */
  tried(): boolean
}

/** A part that a start opens. */
export interface Stage {
  /** Name for people. */
  readonly name: string
  open(): Promise<void>
  /** Also called if opening takes longer than a stop may wait, and then again once it has opened. */
  close?(): Promise<void>
}

export interface LifecycleServices extends Pick<CallsOptions, 'failed'> {
  readonly clock: Clock
  /** Opened in order, closed in reverse order. */
  readonly stages: readonly Stage[]
  /** Starts the delivery. */
  deliver(): void
  /** Stops the delivery; earlier calls may still run. */
  halt(deadline: Deadline): Promise<void>
  /** Dependencies without a stage, by their names for people. A stop closes them in parallel. */
  readonly others: Readonly<Record<string, { close?(): unknown }>>
  /** Receives background errors. */
  onError(error: unknown): void
}

const DEFAULT_DEADLINE_MS = 10_000
/** Longest delay of a timer that only keeps the process alive. */
const FOREVER_MS = 0x7fffffff
/** Minimum time for a stage or dependency to close, even past the deadline. */
const CLOSE_MS = 1_000

export function createLifecycle(services: LifecycleServices): Lifecycle {
  const { clock, stages, deliver, halt, others, onError } = services
  let opened: Promise<void> | null = null
  /** Resolves when the latest start has opened everything, or failed. */
  let opening: Promise<void> = Promise.resolve()
  let givenUp: NotifierError | null = null
  let giveUp = (_error: NotifierError): void => {}
  const abandoned = new Promise<never>((_resolve, reject) => (giveUp = reject))
  abandoned.catch(() => {})
  let closed: Promise<void> | null = null
  let deadline: Deadline | null = null
  let tried = false
  let running = false
  let maintained = false
  let keepAlive: NodeJS.Timeout | undefined

  function notRunning(): NotifierError | null {
    if (running) return null
    if (closed !== null) return stopping()
    // The caller did not await start().
    const message = opened === null ? undefined : 'The notifier is still starting: await start() first.'
    return new NotifierError('not_started', { message, retryAfterMs: 1_000 })
  }

  function refusal(): NotifierError | null {
    return notRunning() ?? (maintained ? unavailable('The service is under maintenance.') : null)
  }

  const calls = createCalls({ notRunning, refusal, failed: services.failed })

  async function openStages(): Promise<void> {
    for (const { name, open } of stages) {
      if (givenUp !== null) throw givenUp
      try {
        await open()
      } catch (error) {
        throw failureOfPlugin(`start (${name})`, error)
      }
    }
  }

  /** Without a deadline it waits for as long as it takes. */
  async function closeStages(until?: Deadline): Promise<void> {
    for (const stage of stages.toReversed()) {
      const closing = stage.close?.()
      if (closing !== undefined) await (until === undefined ? closing : closes(stage, closing, until))
    }
  }

  async function closes({ name }: Stage, closing: Promise<void>, until: Deadline): Promise<void> {
    const inTime = await Promise.all([until.within(closing), within(closing, CLOSE_MS, clock)])
    if (inTime.includes(true)) return
    const message = `The ${name} did not close before the deadline of the stop.`
    onError(new NotifierError('service_unavailable', { message }))
  }

  function begin({ deliver: delivers }: StartOptions): Promise<void> {
    const work = openStages().then(() => {
      if (closed !== null) return
      running = true
      if (delivers === false) return letGo()
      deliver()
    })
    // Keeps the process alive during the start, and afterwards if it delivers, like a listening server.
    stayAlive()
    opening = work.catch(() => {})
    return Promise.race([work, abandoned]).catch((error: unknown) => {
      opened = null
      letGo()
      throw error
    })
  }

  function stayAlive(): void {
    keepAlive ??= setInterval(() => {}, FOREVER_MS)
  }

  /** A stop keeps the process alive until it ends. */
  function letGo(): void {
    if (closed !== null) return
    clearInterval(keepAlive)
    keepAlive = undefined
  }

  async function shut(until: Deadline): Promise<void> {
    running = false
    // Also after a failed start, which may have opened stages.
    if (!tried) return
    // The caller waits for the stop, so nothing else may keep the process alive.
    stayAlive()
    try {
      const answered = await until.within(opening)
      if (!answered) {
        givenUp = stoppedBefore()
        giveUp(givenUp)
      }
      await Promise.all([halt(until), until.within(calls.ended())])
      if (answered) {
        await closeOthers(until)
        await closeStages(until)
      } else {
        await Promise.all([closeOthers(until), abort()])
      }
    } finally {
      clearInterval(keepAlive)
    }
  }

  /** A fault or a hanging dependency does not keep the others open. */
  async function closeOthers(until: Deadline): Promise<void> {
    const parts = Object.entries(others).map(async ([name, part]) => {
      try {
        await part.close?.()
      } catch (error) {
        faultsOf(name, onError)(error)
      }
    })
    const closing = Promise.all(parts)
    await Promise.all([until.within(closing), within(closing, CLOSE_MS, clock)])
  }

  /** Closes all stages in parallel while one still opens; that one is closed when it has opened. */
  async function abort(): Promise<void> {
    const closing = stages.map(async ({ close }) => close?.())
    await within(Promise.all(closing.map((each) => each.catch(onError))), CLOSE_MS, clock)
    opening.then(() => closeStages()).catch(onError)
  }

  return {
    refusal,
    maintenance(on) {
      if (typeof on !== 'boolean') {
        throw new NotifierError('invalid_parameter', {
          message: 'The argument of maintenance() must be true or false.',
        })
      }
      maintained = on
    },
    async start(options = {}) {
      assertStart(options)
      if (closed !== null) {
        throw new NotifierError('not_started', {
          message: 'A stopped notifier cannot start again: create a new one.',
        })
      }
      tried = true
      opened ??= begin(options)
      return opened
    },
    async stop(options = {}) {
      const { timeoutMs } = stopOptions(options)
      if (timeoutMs !== undefined) deadline?.shorten(timeoutMs)
      deadline ??= createDeadline(timeoutMs ?? DEFAULT_DEADLINE_MS, clock)
      closed ??= shut(deadline)
      return closed
    },
    maintained: () => maintained,
    tried: () => tried,
    guard: calls.guard,
  }
}

function assertStart(options: StartOptions): void {
  assertOptionNames('start', options, { deliver: true })
  const { deliver } = options
  if (deliver !== undefined && typeof deliver !== 'boolean') throw wrong('deliver', 'true or false')
}

/** Signal handlers receive the signal's name: `process.once('SIGTERM', notifier.stop)` must work. */
function stopOptions(options: unknown): StopOptions {
  if (typeof options === 'string' && options.startsWith('SIG')) return {}
  assertStop(options as StopOptions)
  return options as StopOptions
}

function assertStop(options: StopOptions): void {
  assertOptionNames('stop', options, { timeoutMs: true })
  const { timeoutMs } = options
  if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs >= 0))
    throw wrong('timeoutMs', 'a number of milliseconds of at least 0')
}

function stoppedBefore(): NotifierError {
  return new NotifierError('not_started', {
    message:
      'The notifier was stopped during its start: a part did not open before the deadline of the stop. ' +
      'Create a new one to start again.',
  })
}

/** The error of calls during a stop. */
export function stopping(): NotifierError {
  return unavailable('The notifier is stopping or has stopped.')
}

function unavailable(message: string): NotifierError {
  return new NotifierError('service_unavailable', { message, retryAfterMs: 5_000 })
}
