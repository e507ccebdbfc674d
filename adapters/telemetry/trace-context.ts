import type { SpanContext, TraceState } from '@opentelemetry/api'

/** Longest stored trace context (`NewNotification.trace`). */
const MAX_TRACE = 600
const TRACE =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?: ([\x20-\x7e]+))?$/

/** A span in W3C Trace Context: the `traceparent`, then a space and the `tracestate` if present. */
export function traceOf({ traceId, spanId, traceFlags, traceState }: SpanContext): string {
  const parent = `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`
  const state = traceState?.serialize() ?? ''
  return state === '' || parent.length + 1 + state.length > MAX_TRACE ? parent : `${parent} ${state}`
}

/** The span of a stored trace. Undefined: invalid. */
export function spanContextOf(
  trace: string,
  createTraceState: (text: string) => TraceState,
): SpanContext | undefined {
  const [, traceId, spanId, flags, state] = TRACE.exec(trace) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(state === undefined ? {} : { traceState: createTraceState(state) }),
  }
}

/** Request headers that continue a trace. */
export function headersOf(trace: string): Record<string, string> {
  const [traceparent = '', ...state] = trace.split(' ')
  return state.length === 0 ? { traceparent } : { traceparent, tracestate: state.join(' ') }
}
