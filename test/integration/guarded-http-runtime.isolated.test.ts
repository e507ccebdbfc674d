import http, { type RequestOptions } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { closedAfterTest, outgoing, request } from '../support/outgoing.ts'
import { httpReceiver } from '../support/receivers.ts'

/* Runtimes and tracers that replace node:http. */

const { request: own } = http
let runtime = own

// Before the client has taken it.
beforeAll(() => {
  http.request = ((options: RequestOptions) => runtime(options)) as typeof http.request
  syncBuiltinESMExports()
})
afterAll(() => {
  http.request = own
  syncBuiltinESMExports()
})

it('that ignores agents and so connects by itself gets no request', async () => {
  runtime = ((options: RequestOptions) =>
    own({ ...options, agent: false, createConnection: undefined })) as never
  const receiver = await closedAfterTest(httpReceiver((response) => response.end()))
  expect(await outgoing().post(request(`http://127.0.0.1:${receiver.port}/`))).toEqual({
    kind: 'failed',
    reason: 'unreachable',
    requestSent: false,
    message: "This runtime's node:http ignores its agent, so the address cannot be checked.",
    durationMs: expect.any(Number),
  })
  await receiver.drained()
  expect(receiver.requests).toEqual([])
})

it('that lacks a function lets no exchange reject', async () => {
  runtime = vi.fn(() => {
    throw new TypeError('agent.addRequest is not a function')
  })
  const receiver = await closedAfterTest(httpReceiver((response) => response.end()))
  expect(await outgoing().post(request(`http://127.0.0.1:${receiver.port}/`))).toMatchObject({
    kind: 'failed',
    reason: 'unreachable',
    requestSent: false,
    message: 'The request cannot be made (TypeError).',
  })
  expect(receiver.connections).toBe(0)
})

it('that a tracer has wrapped sends the headers of both', async () => {
  runtime = (({ headers, ...options }: RequestOptions) =>
    own({ ...options, headers: Object.assign({}, headers, { traceparent: '00-1-2-01' }) })) as never
  const receiver = await closedAfterTest(httpReceiver((response) => response.end()))
  expect(
    await outgoing().post(
      request(`http://127.0.0.1:${receiver.port}/`, { headers: { 'User-Agent': 'acme' } }),
    ),
  ).toMatchObject({ status: 200 })
  expect(receiver.requests[0]?.headers).toMatchObject({
    host: `127.0.0.1:${receiver.port}`,
    'user-agent': 'acme',
    'content-length': '24',
    traceparent: '00-1-2-01',
  })
})
