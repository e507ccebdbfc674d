import { createServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { redisRateLimiter } from '../../adapters/rate-limit/redis/index.ts'
import { webhookSigner } from '../../src/outgoing/webhook-signer.ts'
import { fetchReceiver } from '../../src/webhook-receiver/index.ts'

/** Warnings of this process, and rejections that nobody has handled: those would end it. */
function heard(): { readonly warnings: string[]; readonly unhandled: unknown[] } {
  const warnings: string[] = []
  const unhandled: unknown[] = []
  const warned = ({ message }: Error): unknown => warnings.push(message)
  const rejected = (error: unknown): unknown => unhandled.push(error)
  const before = process.rawListeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', rejected).on('warning', warned)
  onTestFinished(() => {
    process.off('warning', warned).removeAllListeners('unhandledRejection')
    for (const listener of before) process.on('unhandledRejection', listener as () => void)
  })
  return { warnings, unhandled }
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 20))

/** What the application reports to may be away as well. */
const failing = {
  throws() {
    throw new Error('no pager')
  },
  async rejects() {
    throw new Error('no pager')
  },
}

describe.each(Object.entries(failing))('an onError that %s', (_, onError) => {
  it('of a webhook receiver changes no answer, and leaves the fault to a process warning', async () => {
    const { warnings, unhandled } = heard()
    const signer = webhookSigner()
    const secret = signer.newSecret()
    const handle = (): never => {
      throw new Error('the database is away')
    }
    const receive = fetchReceiver({ secret, handle, onError })
    const body = JSON.stringify({ event: 'notification.sent', data: {} })
    const headers = signer.headers('evt_1', Math.floor(Date.now() / 1000), body, [secret])
    const request = new Request('https://example.com/', { method: 'POST', body, headers })
    expect(await receive(request)).toMatchObject({ status: 500 })
    await settled()
    expect(unhandled).toEqual([])
    expect(warnings).toEqual([
      expect.stringMatching(/^The webhook evt_1 was not handled: .*the database is away/),
    ])
  })

  it('of redisRateLimiter changes no decision, and leaves the fault to a process warning', async () => {
    const { warnings, unhandled } = heard()
    const server = createServer((socket) => socket.destroy())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as { readonly port: number }
    const limiter = redisRateLimiter({ url: `redis://127.0.0.1:${port}`, timeoutMs: 50, onError })
    onTestFinished(() => limiter.close())
    const asked = limiter.consume([{ kind: 'pause', key: 'org_a:account' }])
    await expect(asked).rejects.toMatchObject({ code: 'service_unavailable' })
    await settled()
    expect(unhandled).toEqual([])
    expect(warnings).toEqual([expect.stringMatching(/^The rate limiter cannot use Redis: /)])
  })
})
