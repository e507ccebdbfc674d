import type { Context, SpanContext, Tracer, TracerProvider, TraceState } from '@opentelemetry/api'
import { NotifierError } from '../../src/core/errors/notifier-error.ts'
import { assertOptionNames, BOOLEAN, objectWith } from '../../src/core/errors/option-names.ts'
import type { SpanStart } from '../../src/core/observe/telemetry.ts'
import type { Span, Telemetry } from '../../src/core/ports/telemetry.ts'
import { peerFault } from '../peer/peer-fault.ts'
import { endOf, startOf } from './span-attributes.ts'

/** Longest stored trace context (`NewNotification.trace`). */
const MAX_TRACE = 600
const TRACE =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?: ([\x20-\x7e]+))?$/

/** A span in W3C Trace Context: the `traceparent`, then a space and the `tracestate` if present. */
function traceOf({ traceId, spanId, traceFlags, traceState }: SpanContext): string {
  const parent = `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`
  const state = traceState?.serialize() ?? ''
  return state === '' || parent.length + 1 + state.length > MAX_TRACE ? parent : `${parent} ${state}`
}

/** The span of a stored trace. Undefined: invalid. */
function spanContextOf(
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
function headersOf(trace: string): Record<string, string> {
  const [traceparent = '', ...state] = trace.split(' ')
  return state.length === 0 ? { traceparent } : { traceparent, tracestate: state.join(' ') }
}

export interface OpenTelemetryOptions {
  /** Destination of spans: an object with `getTracer`, for example a `TracerProvider`. Default: the global one. */
  readonly tracerProvider?: { getTracer(name: string): unknown } | undefined
  /**
   * Send `traceparent` and `tracestate` with webhook events, so that receivers can continue the trace. This reveals
   * trace ids to them. Default: false.
   */
  readonly traceWebhooks?: boolean | undefined
}

type Api = Pick<
  typeof import('@opentelemetry/api'),
  | 'context'
  | 'trace'
  | 'createTraceState'
  | 'isSpanContextValid'
  | 'ROOT_CONTEXT'
  | 'SpanKind'
  | 'SpanStatusCode'
>

/** @throws NotifierError `missing_peer` */
async function loadApi(): Promise<Api> {
  try {
    return await import(/* turbopackOptional: true */ '@opentelemetry/api')
  } catch (cause) {
    throw peerFault('@opentelemetry/api', cause)
  }
}

/**
 * Spans from accept to settle, in the caller's trace. The trace context is stored with the notification, and the
 * delivering process continues it. Inside a channel's `send` the attempt's span is active, so instrumented HTTP clients
 * create its children.
 *
 * Requires a context manager, which the SDK for Node.js registers. Without an SDK nothing is recorded, but the caller's
 * context is still propagated.
 *
 * @throws NotifierError `invalid_configuration`; `missing_peer` from the notifier's `start()` without
 *   @opentelemetry/api
 *
 * @example
 * const notifier = createNotifier({ channels: { email: provider }, telemetry: openTelemetry() })
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Telemetry {
  assertOptionNames('openTelemetry', options, {
    tracerProvider: objectWith('getTracer'),
    traceWebhooks: BOOLEAN,
  })
  const { tracerProvider, traceWebhooks = false } = options
  let loaded: { readonly api: Api; readonly tracer: Tracer } | undefined

  function parentOf({ context, trace, createTraceState, ROOT_CONTEXT }: Api, start: SpanStart): Context {
    if (start.name !== 'deliver') return context.active()
    const parent = start.parent === null ? undefined : spanContextOf(start.parent, createTraceState)
    return parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent)
  }

  function startSpan(start: SpanStart): Span {
    if (loaded === undefined) throw new NotifierError('not_started')
    const { api, tracer } = loaded
    const parent = parentOf(api, start)
    const { name, kind, attributes } = startOf(start)
    const span = tracer.startSpan(name, { kind: api.SpanKind[kind], attributes }, parent)
    const active = api.trace.setSpan(parent, span)
    const own = span.spanContext()
    const trace = api.isSpanContextValid(own) ? traceOf(own) : undefined
    return {
      trace,
      headers: traceWebhooks && trace !== undefined ? headersOf(trace) : {},
      run: (work) => api.context.with(active, work),
      end(end) {
        if (span.isRecording()) {
          span.setAttributes(endOf(end))
          if (end.failure !== undefined) {
            span.setStatus({ code: api.SpanStatusCode.ERROR, message: end.failure })
          }
        }
        span.end()
      },
    }
  }

  return {
    name: 'opentelemetry',
    async start() {
      const api = await loadApi()
      const provider = (tracerProvider as TracerProvider | undefined) ?? api.trace
      loaded = { api, tracer: provider.getTracer('carillon') }
    },
    startSpan,
  }
}
