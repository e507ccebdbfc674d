import type { Provider } from '../../ports/provider.ts'
import type { Queue } from '../../ports/queue.ts'

/** A queue engine under test with an empty storage that its processes share. */
export interface QueueHarness {
  /** A new connection to the engine, as one process has. Null: the built-in dispatch, without an engine. */
  queue(): Queue | null
  /** Starts a notifier that uses it. */
  start(options: QueueNotifierOptions): Promise<QueueNotifier>
  /** Empties the engine's server. */
  lose(): Promise<void>
  /** Stops the engine's server, and returns a function that starts it again. Null: it is the storage's server. */
  readonly takeAway: (() => Promise<() => Promise<void>>) | null
  /** Starts a child process that delivers slowly and reports its hand-overs. */
  spawn(): Promise<QueueProcess>
  close(): Promise<void>
}

export interface QueueNotifierOptions {
  readonly channels: Readonly<Record<string, Provider>>
  readonly queue: Queue | null
  readonly pollMs: number
  /** False: accepts only. */
  readonly deliver?: boolean
}

/** The part of a notifier that the contract uses. */
export interface QueueNotifier {
  send(message: ContractMessage): Promise<{ readonly id: string }>
  sendBatch(messages: readonly ContractMessage[]): Promise<{ readonly accepted: number }>
  organization(id: string): Pick<QueueNotifier, 'send'>
  readonly notifications: {
    get(id: string): Promise<{ readonly status: string }>
    cancel(id: string): Promise<unknown>
  }
  readonly organizations: {
    create(organization: { readonly name: string }): Promise<{ readonly id: string }>
  }
  health(): Promise<{ readonly queue: { readonly takes: boolean } | null }>
  on(event: 'error', listener: (error: Error) => void): unknown
  stop(options?: { readonly deadlineMs?: number }): Promise<void>
}

export interface ContractMessage {
  readonly channel: 'email' | 'sms'
  readonly to: string
  readonly body: string
  /** ISO 8601. */
  readonly sendAt?: string
}

/** A process with a provider that takes about 50 ms per message, 4 at a time, and a lease of 2 s. */
export interface QueueProcess {
  /** The id of each hand-over so far. */
  handedOver(): readonly string[]
  /** Sends SIGKILL; resolves when the process has ended. */
  kill(): Promise<void>
}
