import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sqlite } from '../../adapters/storage/sqlite/index.ts'
import { type Answer, call, codeOf } from '../support/http-client.ts'
import { type Program, runProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import type { ServeOptions } from './programs/serve.ts'

const directory = temporaryDirectory()

interface Server {
  readonly program: Program
  post(path: string, body: unknown, key: string): Promise<Answer>
}

async function serve(options: ServeOptions): Promise<Server> {
  const program = runProgram('serve', options)
  const port = Number((await program.said('listening ')).slice('listening '.length))
  const secret = (await program.said('key ')).slice('key '.length)
  return {
    program,
    post: (path, body, key) =>
      call(port, {
        method: 'POST',
        path,
        body,
        headers: { authorization: `Bearer ${secret}`, 'idempotency-key': key },
      }),
  }
}

async function storedRecipients(database: string): Promise<string[]> {
  const storage = sqlite({ file: database })
  await storage.start()
  try {
    const { items } = await storage.notifications.list(
      { organizationId: 'org_default' },
      { limit: 100, offset: 0 },
    )
    return items.map(({ to }) => to).sort()
  } finally {
    await storage.stop()
  }
}

const message = (to: string) => ({ channel: 'email', to, subject: 'Hi', body: 'Hello' })

describe('a server that is killed between the commit and the answer', () => {
  it.each([
    ['/v1/notify', '/v1/notifications', message('ada@example.com')],
    ['/v1/notifications', '/v1/notify', message('ada@example.com')],
  ])('%s, repeated on %s with the key, makes no second notification', async (first, second, body) => {
    const database = join(directory, `${first.replaceAll('/', '-')}.db`)
    const dying = await serve({ database, diesAfter: 'accept' })
    await expect(dying.post(first, body, 'once')).rejects.toThrow()
    expect(await dying.program.ended).toBe('SIGKILL')

    const next = await serve({ database })
    const repeated = await next.post(second, body, 'once')
    expect(repeated).toMatchObject({ status: 201, headers: { 'idempotent-replayed': 'true' } })
    expect(repeated.json).toMatchObject({ status: 'queued', to: 'ada@example.com' })
    expect(codeOf(await next.post(second, message('eve@example.com'), 'once'))).toBe('idempotency_key_reused')
    expect(await storedRecipients(database)).toEqual(['ada@example.com'])
  })

  it('a batch, repeated with the key, gives every item of the first', async () => {
    const database = join(directory, 'batch.db')
    const body = {
      notifications: [message('ada@example.com'), message('nobody'), message('bob@example.com')],
    }
    const dying = await serve({ database, diesAfter: 'accept' })
    await expect(dying.post('/v1/notifications/batch', body, 'once')).rejects.toThrow()
    expect(await dying.program.ended).toBe('SIGKILL')

    const next = await serve({ database })
    const repeated = await next.post('/v1/notifications/batch', body, 'once')
    expect(repeated).toMatchObject({ status: 201, headers: { 'idempotent-replayed': 'true' } })
    expect(repeated.json).toMatchObject({
      accepted: 2,
      rejected: 1,
      items: [
        { index: 0, status: 'queued' },
        { index: 1, error: { code: 'invalid_email' } },
        { index: 2, status: 'queued' },
      ],
    })
    expect(await storedRecipients(database)).toEqual(['ada@example.com', 'bob@example.com'])
  })
})
