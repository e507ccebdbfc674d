import { NotifierError } from '../domain/errors/notifier-error.ts'
import type { Clock } from '../ports/clock.ts'
import { createDeadline, type Deadline } from './deadline.ts'
import type { Notifier } from './notifier.ts'

/** Starting and stopping, and what may be called between. */
export interface Lifecycle extends Pick<Notifier, 'start' | 'stop' | 'maintenance'> {
  /** Why calls are refused; null: they are not. */
  refusal(): NotifierError | null
  /**
   * The same methods, refused before the start and after the stop, and waited for while stopping.
   *
   * @param failed is told of every call that failed, by the method's name
   */
  guard<Methods extends object>(methods: Methods, failed?: (name: string, error: unknown) => void): Methods
  /** Like {@link guard}, for what also answers under maintenance. */
  guardAlways<Methods extends object>(methods: Methods): Methods
  /** Under maintenance nothing is stored. */
  maintained(): boolean
}

export interface LifecycleParts {
  readonly clock: Clock
  open(): Promise<void>
  /** Begins to deliver. */
  deliver(): void
  /** Ends the delivery, while calls that were taken before may still go on. */
  halt(deadline: Deadline): Promise<void>
  /** Closes what they needed. */
  close(deadline: Deadline): Promise<void>
}

const DEFAULT_DEADLINE_MS = 10_000
/** Longest delay of a timer; that it fires is of no use, only that it exists. */
const FOREVER_MS = 0x7fffffff

type AnyMethod = (...args: never[]) => Promise<unknown>

export function createLifecycle({ clock, open, deliver, halt, close }: LifecycleParts): Lifecycle {
  let opened: Promise<void> | null = null
  let closed: Promise<void> | null = null
  let deadline: Deadline | null = null
  let tried = false
  let running = false
  let maintained = false
  let calls = 0
  let noCalls = (): void => {}
  let keepAlive: NodeJS.Timeout | undefined

  function notRunning(): NotifierError | null {
    if (running) return null
    if (closed !== null) return unavailable('The notifier is stopping or has stopped.')
    return new NotifierError('not_started', { retryAfterMs: 1_000 })
  }

  function refusal(): NotifierError | null {
    return notRunning() ?? (maintained ? unavailable('The service is under maintenance.') : null)
  }

  function done(): void {
    calls -= 1
    if (calls === 0) noCalls()
  }

  async function callsEnded(): Promise<void> {
    if (calls > 0) await new Promise<void>((resolve) => (noCalls = resolve))
  }

  async function shut(until: Deadline): Promise<void> {
    running = false
    await opened?.catch(() => {})
    try {
      // Also after a start that failed: it may have opened something before it did.
      if (tried) {
        await Promise.all([halt(until), until.within(callsEnded())])
        await close(until)
      }
    } finally {
      clearInterval(keepAlive)
    }
  }

  function guarded<Methods extends object>(
    methods: Methods,
    refusalNow: () => NotifierError | null,
    failed: (name: string, error: unknown) => void = () => {},
  ): Methods {
    const made = Object.entries(methods as Record<string, AnyMethod>).map(([name, method]) => {
      const fault = (error: unknown): void => {
        done()
        failed(name, error)
      }
      const call: AnyMethod = (...args) => {
        const refused = refusalNow()
        if (refused !== null) {
          failed(name, refused)
          return Promise.reject(refused)
        }
        calls += 1
        const promise = method(...args)
        promise.then(done, fault)
        return promise
      }
      return [name, call]
    })
    return Object.fromEntries(made)
  }

  return {
    refusal,
    maintenance(on) {
      maintained = on
    },
    start(options) {
      if (closed !== null) {
        return Promise.reject(
          new NotifierError('not_started', {
            message: 'A stopped notifier cannot start again: create a new one.',
          }),
        )
      }
      tried = true
      opened ??= open().then(
        () => {
          if (closed !== null) return
          running = true
          if (options?.deliver === false) return
          // A process that delivers is alive as long as it may have to, like one that listens.
          keepAlive = setInterval(() => {}, FOREVER_MS)
          deliver()
        },
        (error: unknown) => {
          opened = null
          throw error
        },
      )
      return opened
    },
    stop(options) {
      if (options?.deadlineMs !== undefined) deadline?.shorten(options.deadlineMs)
      deadline ??= createDeadline(options?.deadlineMs ?? DEFAULT_DEADLINE_MS, clock)
      closed ??= shut(deadline)
      return closed
    },
    maintained: () => maintained,
    guard: (methods, failed) => guarded(methods, refusal, failed),
    guardAlways: (methods) => guarded(methods, notRunning),
  }
}

function unavailable(message: string): NotifierError {
  return new NotifierError('service_unavailable', { message, retryAfterMs: 5_000 })
}
