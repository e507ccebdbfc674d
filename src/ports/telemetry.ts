import type { SpanEnd, SpanStart, TelemetryFact } from '../domain/telemetry.ts'
import type { Backlog } from './storage/backlog.ts'

/**
 * Tells an outside system what happens: metrics, traces, or both. A plug-in is a function that returns an object like
 * this; what it leaves out is not asked of it. What a method throws, or rejects with, is logged once and harms nobody, but
 * everything here runs inside the calls that it watches: it must return at once.
 */
export interface Telemetry {
  /** For logs, for example `prometheus`. */
  readonly name: string
  /** Called once, as the notifier starts and before anything else; loads what the plug-in needs. A rejection ends the start, and so do 30 seconds. */
  start?(source: TelemetrySource): Promise<void>
  /** One thing that happened in this process. */
  record?(fact: TelemetryFact): void
  /**
   * Begins a span. Only one plug-in of a notifier may have it.
   *
   * A `deliver` span has the parent that it names and no other; all others have the one that is active where they begin.
   */
  startSpan?(start: SpanStart): Span
  /** Called once, when nothing more is recorded. */
  stop?(): Promise<void> | void
}

/** One span of a trace. */
export interface Span {
  /** What continues it elsewhere: see `NewNotification.trace`. Undefined: nothing can. */
  readonly trace: string | undefined
  /** The headers that continue it in a request to an endpoint of an organization; empty unless that was opted into. */
  readonly headers: Readonly<Record<string, string>>
  /** Runs `work` with this span as the active one, over all its awaits. */
  run<Answer>(work: () => Answer): Answer
  /** Called once. */
  end(end: SpanEnd): void
}

/** What can be asked of a notifier at any time. */
export interface TelemetrySource {
  /** What waits in the storage. Rejects when that does not answer. */
  backlog(): Promise<Backlog>
  /** The providers of this process. */
  providers(): readonly ProviderActivity[]
}

/** A provider in this process. */
export interface ProviderActivity {
  readonly channel: string
  readonly name: string
  readonly state: string
  /** Messages under way. */
  readonly running: number
}
