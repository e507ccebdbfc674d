import { createServer, request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { sqlite } from '../../adapters/storage/sqlite/index.ts'
import { type OpenTelemetryOptions, openTelemetry } from '../../adapters/telemetry/opentelemetry.ts'
import { createNotifier, type Notifier, type NotifierOptions } from '../../src/index.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { eventually } from '../support/eventually.ts'
import { inMemory } from '../support/in-memory.ts'
import { httpReceiver, type Receiver } from '../support/receivers.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const directory = temporaryDirectory()
let files = 0
const exporter = new InMemorySpanExporter()
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
const application = provider.getTracer('application')
const message = { channel: 'email', to: 'ada@example.com', subject: 'A secret', body: 'Hi Ada' } as const

beforeAll(() => provider.register())
// A notifier is stopped after its test, and ends spans then.
beforeEach(() => exporter.reset())
afterAll(async () => {
  await provider.shutdown()
  trace.disable()
  context.disable()
  propagation.disable()
})

function spans(name: string): ReadableSpan[] {
  return exporter.getFinishedSpans().filter((span) => span.name === name)
}

function one(name: string): ReadableSpan {
  const [span, ...others] = spans(name)
  expect([name, others.length]).toEqual([name, 0])
  return span as ReadableSpan
}

function idOf(span: ReadableSpan): string {
  return span.spanContext().spanId
}

async function started(options: NotifierOptions, deliver = true): Promise<Notifier> {
  const notifier = createNotifier(options)
  await notifier.start({ deliver })
  onTestFinished(() => notifier.stop())
  return notifier
}

async function endpoint(respond = 200): Promise<Receiver> {
  const receiver = await httpReceiver((response) => response.writeHead(respond).end())
  onTestFinished(() => receiver.close())
  return receiver
}

const webhooks = { allow: ['127.0.0.0/8'], allowHttp: true }

/** One notifier accepts, another one of the same file delivers and posts the event. */
async function acceptAndDeliver(options: OpenTelemetryOptions) {
  const file = join(directory, `${files++}.db`)
  const receiver = await endpoint()
  const inner = createServer((_req, res) => res.end())
  await new Promise<void>((resolve) => inner.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void inner.close())
  const { port } = inner.address() as { port: number }
  const accepting = await started(
    {
      storage: sqlite({ file }),
      channels: { email: recordingProvider() },
      webhooks,
      telemetry: openTelemetry(),
    },
    false,
  )
  await accepting.webhooks.create({
    url: `http://127.0.0.1:${receiver.port}/hook`,
    events: ['notification.sent'],
  })
  const sent = await application.startActiveSpan('caller', async (span) => {
    const answer = await accepting.send(message)
    span.end()
    return answer
  })
  const delivering = await started({
    storage: sqlite({ file }),
    webhooks,
    telemetry: openTelemetry(options),
    channels: {
      email: recordingProvider({
        // What an instrumented HTTP client does: a span, after an await, under whatever is active.
        send: async () => {
          await new Promise((resolve) => httpRequest({ port, host: '127.0.0.1' }, resolve).end())
          application.startSpan('client').end()
          return { kind: 'accepted' }
        },
      }),
    },
  })
  await eventually(() => receiver.requests[0])
  await delivering.stop()
  return { sent, request: receiver.requests[0], receiver }
}

describe('one trace', () => {
  it('goes from the caller over the accept and the storage to the attempt, the settle and the event', async () => {
    const { sent, request } = await acceptAndDeliver({})
    const accept = one('carillon.accept')
    const attempt = one('carillon.attempt')
    const event = one('carillon.event')
    const [first, second] = spans('carillon.deliver')
    expect(first?.attributes['messaging.destination.name']).toBe('email')
    expect(second?.attributes['messaging.destination.name']).toBe('events')
    const parents = [
      [accept, one('caller')],
      [first, accept],
      [attempt, first],
      [one('client'), attempt],
      [spans('carillon.settle')[0], first],
      [second, accept],
      [event, second],
      [spans('carillon.settle')[1], second],
    ] as const
    for (const [span, parent] of parents) {
      expect([span?.name, span?.parentSpanContext?.spanId]).toEqual([span?.name, parent && idOf(parent)])
    }
    const traces = exporter.getFinishedSpans().map((span) => span.spanContext().traceId)
    expect(new Set(traces)).toEqual(new Set([accept.spanContext().traceId]))
    expect([accept.kind, first?.kind, attempt.kind, event.kind]).toEqual([
      SpanKind.PRODUCER,
      SpanKind.CONSUMER,
      SpanKind.CLIENT,
      SpanKind.CLIENT,
    ])
    expect(accept.attributes).toEqual({
      'messaging.system': 'carillon',
      'messaging.operation.name': 'send',
      'messaging.operation.type': 'send',
      'messaging.destination.name': 'email',
      'messaging.message.id': sent.id,
    })
    expect(attempt.attributes).toMatchObject({
      'messaging.message.id': sent.id,
      'carillon.provider': 'recorder',
      'carillon.attempt': 1,
      'carillon.outcome': 'accepted',
    })
    expect(event.attributes).toMatchObject({
      'carillon.event': 'notification.sent',
      'http.response.status_code': 200,
    })
    expect(request?.headers.traceparent).toBeUndefined()
    const everything = JSON.stringify(
      exporter.getFinishedSpans().map(({ attributes, events }) => [attributes, events]),
    )
    expect(everything).not.toMatch(/ada@|Hi Ada|A secret/)
  })

  it('reaches the receiver of an event where that was opted into', async () => {
    const { request } = await acceptAndDeliver({ traceWebhooks: true })
    const { traceId, spanId } = one('carillon.event').spanContext()
    expect(request?.headers.traceparent).toBe(`00-${traceId}-${spanId}-01`)
  })

  it('is the whole batch’s', async () => {
    const channel = recordingProvider()
    const notifier = await started({
      storage: inMemory(),
      channels: { email: channel },
      telemetry: openTelemetry(),
    })
    await notifier.sendBatch([message, { ...message, to: 'nobody' }, message])
    await eventually(() => (spans('carillon.deliver').length === 2 ? true : undefined))
    const accept = one('carillon.accept')
    expect(accept.attributes['messaging.batch.message_count']).toBe(2)
    for (const { parentSpanContext } of spans('carillon.deliver')) {
      expect(parentSpanContext?.spanId).toBe(idOf(accept))
    }
  })
})

describe('spans', () => {
  it('tell of failures by their codes', async () => {
    const channel = recordingProvider({
      send: () => ({ kind: 'rejected', code: 'spam_detected', scope: 'message' }),
    })
    const notifier = await started({
      storage: inMemory(),
      channels: { email: channel },
      telemetry: openTelemetry(),
    })
    await expect(notifier.send({ ...message, to: 'nobody' })).rejects.toMatchObject({ code: 'invalid_email' })
    expect(one('carillon.accept')).toMatchObject({
      status: { code: SpanStatusCode.ERROR, message: 'invalid_email' },
      attributes: { 'error.type': 'invalid_email' },
    })
    await notifier.send(message)
    await eventually(() => spans('carillon.settle')[0])
    expect(one('carillon.attempt')).toMatchObject({
      status: { code: SpanStatusCode.ERROR },
      attributes: { 'carillon.outcome': 'rejected', 'error.type': 'spam_detected' },
    })
  })

  it('of deliveries belong to no caller who happened to wake the dispatcher', async () => {
    const channel = recordingProvider()
    const file = join(directory, 'untraced.db')
    const untraced = await started({ storage: sqlite({ file }), channels: { email: channel } }, false)
    await untraced.send(message)
    const notifier = createNotifier({
      storage: sqlite({ file }),
      channels: { email: channel },
      telemetry: openTelemetry(),
    })
    onTestFinished(() => notifier.stop())
    await application.startActiveSpan('caller', async (span) => {
      await notifier.start()
      span.end()
    })
    await eventually(() => spans('carillon.deliver')[0])
    const deliver = one('carillon.deliver')
    expect(deliver.parentSpanContext).toBeUndefined()
    expect(deliver.spanContext().traceId).not.toBe(one('caller').spanContext().traceId)
  })

  it('go to the provider that is given', async () => {
    const own = new InMemorySpanExporter()
    const tracerProvider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(own)] })
    onTestFinished(() => tracerProvider.shutdown())
    const notifier = await started({
      storage: inMemory(),
      channels: { email: recordingProvider() },
      telemetry: openTelemetry({ tracerProvider }),
    })
    await notifier.send(message)
    await eventually(() => own.getFinishedSpans().find(({ name }) => name === 'carillon.attempt'))
    expect(exporter.getFinishedSpans()).toEqual([])
  })

  it('keep the trace state of other vendors as it is', async () => {
    const channel = recordingProvider()
    const notifier = await started({
      storage: inMemory(),
      channels: { email: channel },
      telemetry: openTelemetry({ traceWebhooks: true }),
      webhooks,
    })
    const receiver = await endpoint()
    await notifier.webhooks.create({
      url: `http://127.0.0.1:${receiver.port}/`,
      events: ['notification.sent'],
    })
    const carrier = {
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      tracestate: 'vendor=a b,other=c',
    }
    await context.with(propagation.extract(context.active(), carrier), () => notifier.send(message))
    const { headers } = await eventually(() => receiver.requests[0])
    expect(headers.tracestate).toBe('vendor=a b,other=c')
    expect(headers.traceparent).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-01$/)
  })

  it('need a provider that has tracers', () => {
    expect(() => openTelemetry({ tracerProvider: {} as never })).toThrow(
      expect.objectContaining({ code: 'invalid_configuration' }),
    )
  })
})
