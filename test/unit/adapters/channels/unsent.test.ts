import { afterEach, expect, it } from 'vitest'
import { isUnsent } from '../../../../adapters/channels/kit/unsent.ts'
import { closedPort, httpsReceiver, type Receiver, tcpReceiver } from '../../../support/receivers.ts'

const open: Pick<Receiver, 'close'>[] = []
afterEach(async () => {
  for (const receiver of open.splice(0)) await receiver.close()
})
const errorOf = (url: string, signal?: AbortSignal) =>
  fetch(url, { method: 'POST', body: 'x', ...(signal === undefined ? {} : { signal }) }).then(
    () => null,
    (error: unknown) => error,
  )

it('is a request to a port that nothing listens on, to a name of several addresses, too', async () => {
  const port = await closedPort()
  expect(isUnsent(await errorOf(`http://127.0.0.1:${port}/`))).toBe(true)
  expect(isUnsent(await errorOf(`http://localhost:${port}/`))).toBe(true)
})

it('is a request to a host that does not exist', async () => {
  expect(isUnsent(await errorOf('http://provider.invalid/'))).toBe(true)
})

it('is a request to a host whose certificate nobody vouches for', async () => {
  const receiver = await httpsReceiver((response) => response.end())
  open.push(receiver)
  expect(isUnsent(await errorOf(`https://localhost:${receiver.port}/`))).toBe(true)
  expect(receiver.requests).toEqual([])
})

it('is not one whose connection breaks, nor one that is given up', async () => {
  const breaking = await tcpReceiver((socket) => socket.once('data', () => socket.resetAndDestroy()))
  const silent = await tcpReceiver((socket) => socket.resume())
  open.push(breaking, silent)
  expect(isUnsent(await errorOf(`http://127.0.0.1:${breaking.port}/`))).toBe(false)
  const abort = new AbortController()
  const given = errorOf(`http://127.0.0.1:${silent.port}/`, abort.signal)
  abort.abort()
  expect(isUnsent(await given)).toBe(false)
})

it.each([null, undefined, 'ECONNREFUSED', 7, {}, new Error('connect'), new AggregateError([])])(
  'is not said of %j',
  (error) => {
    expect(isUnsent(error)).toBe(false)
  },
)

it('is said of several addresses only where it is true of each', () => {
  const refused = Object.assign(new Error('refused'), { syscall: 'connect', code: 'ECONNREFUSED' })
  expect(isUnsent(new Error('fetch failed', { cause: new AggregateError([refused, refused]) }))).toBe(true)
  expect(isUnsent(new AggregateError([refused, new Error('reset')]))).toBe(false)
})

it('ends at a cause that leads back to itself', () => {
  const circular = new Error('circular')
  circular.cause = circular
  expect(isUnsent(circular)).toBe(false)
})
