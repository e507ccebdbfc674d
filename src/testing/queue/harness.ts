import type { Provider } from '../../ports/provider.ts'
import type { Queue } from '../../ports/queue.ts'

/** A queue engine under test, over one storage that all its processes share; empty. */
export interface QueueHarness {
  /** One process' own connection to the engine; null: the built-in dispatch, without an engine. */
  queue(): Queue | null
  /** Starts a notifier with it. */
  start(options: QueueNotifierOptions): Promise<QueueNotifier>
  /** Makes the engine forget everything: its server is emptied. */
  lose(): Promise<void>
  /** Takes the engine's server away, and answers what brings it back; null: it is the storage's server. */
  readonly takeAway: (() => Promise<() => Promise<void>>) | null
  /** Starts a process of its own that delivers, slowly, and says which notifications it has handed over. */
  spawn(): Promise<QueueProcess>
  close(): Promise<void>
}

export interface QueueNotifierOptions {
  readonly channels: Readonly<Record<string, Provider>>
  readonly queue: Queue | null
  readonly pollMs: number
  /** False: it only accepts. */
  readonly deliver?: boolean
}

/** What the contract uses of a notifier. */
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

/** A process with a provider that takes some 50 ms for a message, 4 at a time, and a lease of 2 s. */
export interface QueueProcess {
  /** Ids, one for each hand-over so far. */
  handedOver(): readonly string[]
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>
}
