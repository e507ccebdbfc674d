import type { Provider } from '../../core/ports/provider.ts'
import type { Queue } from '../../core/ports/queue.ts'

/** A queue engine under test with an empty storage that its processes share. */
export interface QueueHarness {
  /** A new connection to the engine, as one process has. Null: the built-in dispatch, without an engine. */
  queue(): Queue | null
  /**
   * Makes a notifier over the storage, which the contract starts and stops: `(options) => createNotifier({ storage,
   * ...options })`.
   */
  notifier(options: QueueNotifierOptions): QueueNotifier
  /** A program for a process that the contract kills, with its arguments. It calls `queueProgram`. */
  readonly program: readonly [file: URL, ...args: string[]]
  /** Empties the engine's server. */
  lose(): Promise<void>
  /** Stops the engine's server, and returns a function that starts it again. Null: it is the storage's server. */
  readonly takeAway: (() => Promise<() => Promise<void>>) | null
  /** Removes the storage and the data of the engine. All notifiers have stopped. */
  close(): Promise<void>
}

/** Options of a notifier, beside its `storage`. */
export interface QueueNotifierOptions {
  readonly channels: Readonly<Record<string, Provider>>
  readonly queue: Queue | undefined
  readonly delivery: { readonly pollMs?: number | undefined; readonly leaseMs: number }
  /** None: no limit delays a message. */
  readonly plans: Readonly<Record<string, never>>
}

/** The part of a notifier that the contract uses. */
export interface QueueNotifier {
  start(options: { readonly deliver: boolean }): Promise<void>
  stop(options: { readonly timeoutMs: number }): Promise<void>
  send(message: ContractMessage): Promise<{ readonly id: string }>
  sendBatch(messages: readonly ContractMessage[]): Promise<{ readonly accepted: number }>
  organization(id: string): Pick<QueueNotifier, 'send'>
  readonly notifications: {
    get(id: string): Promise<{ readonly status: string }>
    cancel(id: string): Promise<unknown>
    reschedule(id: string, change: { readonly sendAt: string | null }): Promise<unknown>
  }
  readonly organizations: {
    create(organization: { readonly name: string }): Promise<{ readonly id: string }>
  }
  health(): Promise<{ readonly queue: { readonly takes: boolean } | null }>
  on(event: 'error', listener: (error: Error) => void): unknown
}

/** A type and not an interface, so that a notifier for any channel takes it. */
export type ContractMessage = {
  readonly channel: 'email' | 'sms'
  readonly to: string
  readonly body: string
  /** ISO 8601. */
  readonly sendAt?: string
}
