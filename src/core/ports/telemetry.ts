import type { SpanEnd, SpanStart, TelemetryFact } from '../observe/telemetry.ts'

/**
 * Reports metrics, traces, or both to an outside system. A plug-in is a function that returns such an object; all
 * methods are optional. An exception or rejection is logged once and has no other effect. Every method runs inside the
 * calls that it observes, so it must return at once.
 */
export interface Telemetry {
  /** Name for logs, for example `prometheus`. */
  readonly name: string
  /**
   * Called once, before everything else at the start of the notifier. Loads what the plug-in needs. A rejection, or 30
   * seconds, ends the start.
   */
  start?(source: TelemetrySource): Promise<void>
  /** Reports one fact about this process. */
  record?(fact: TelemetryFact): void
  /**
   * Begins a span. At most one plug-in of a notifier may have this method.
   *
   * A `deliver` span has exactly the parent that it names. Other spans have the active span as their parent.
   */
  startSpan?(start: SpanStart): Span
  /** Called once, after the last record. */
  stop?(): Promise<void> | void
}

/** One span of a trace. */
export interface Span {
  /** The context for `NewNotification.trace`, to continue the trace elsewhere. Undefined: not possible. */
  readonly trace: string | undefined
  /** The headers that continue the trace in a request to an organization's endpoint. Empty unless enabled. */
  readonly headers: Readonly<Record<string, string>>
  /** Runs `work` with this span active, including its awaits. */
  run<Answer>(work: () => Answer): Answer
  /** Called once. */
  end(end: SpanEnd): void
}

/** Counts of stored work for operators. Every count stops at a maximum. */
export interface Backlog {
  /** The lanes that have jobs. */
  readonly lanes: readonly LaneBacklog[]
  /** Webhook deliveries that wait for a redelivery because their endpoint is disabled. They are in no lane. */
  readonly held: number
}

export interface LaneBacklog {
  /** A lane of notifications. Null: all webhook endpoints together. */
  readonly lane: string | null
  /** Jobs that a claim could take now, recovered ones included. */
  readonly due: number
  /** Jobs due later: scheduled sends, and pauses between attempts. */
  readonly scheduled: number
  /** Jobs under a valid lease. */
  readonly leased: number
  /**
   * Age in milliseconds of the oldest counted due job, from its due time or from the end of its lease. Null: none is
   * due.
   */
  readonly oldestDueMs: number | null
}

/** Data about a notifier, available at any time. */
export interface TelemetrySource {
  /** The stored work. Rejects if the storage does not answer. */
  backlog(): Promise<Backlog>
  /** The providers of this process. */
  providers(): readonly ProviderActivity[]
}

/** A provider in this process. */
export interface ProviderActivity {
  readonly channel: string
  readonly name: string
  /** The organization that owns the instance. Null: it serves all. */
  readonly organizationId: string | null
  readonly state: string
  /** Messages under way. */
  readonly running: number
}
