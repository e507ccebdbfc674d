import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AttachmentInput } from '../../src/core/channels/email-content.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { deliveryWorld } from '../support/delivery-world.ts'
import type { Answer } from '../support/http-client.ts'
import { mail } from '../support/notifier-world.ts'
import { type Host, startHost } from '../support/rest-host.ts'

let folder: string
let path: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-files-'))
  path = join(folder, 'Größe.pdf')
  await writeFile(path, 'from a file')
})
afterAll(() => rm(folder, { recursive: true }))

const contentType = 'application/pdf'
const named = { filename: 'a.pdf', contentType }
const withFile = (...attachments: readonly AttachmentInput[]) => ({ ...mail, email: { attachments } })

async function* chunks(...all: readonly (string | Uint8Array)[]) {
  yield* all
}

describe('a file of a message from code', () => {
  it('may be any stream, or the path of a file, read before the answer', async () => {
    const provider = recordingProvider()
    const { notifier, ended } = await deliveryWorld([provider])
    const { id } = await notifier.send(
      withFile(
        { ...named, content: Readable.from(['from ', Buffer.from('Node.js')]) },
        { ...named, content: new Blob(['from the web']).stream() },
        { ...named, content: chunks('from ', new Uint8Array([0x61])) },
        { path, contentType },
        { ...named, path, cid: 'logo' },
        { ...named, content: Buffer.from('bytes') },
      ),
    )
    await rm(path)
    await ended(id)
    await writeFile(path, 'from a file')
    const files = provider.messages[0]?.email?.attachments ?? []
    expect(
      files.map(({ filename, content, cid }) => [filename, Buffer.from(content).toString(), cid]),
    ).toEqual([
      ['a.pdf', 'from Node.js', undefined],
      ['a.pdf', 'from the web', undefined],
      ['a.pdf', 'from a', undefined],
      ['Größe.pdf', 'from a file', undefined],
      ['a.pdf', 'from a file', 'logo'],
      ['a.pdf', 'bytes', undefined],
    ])
  })

  it.each<[string, () => unknown, RegExp]>([
    ['a missing file', () => ({ path: '/nowhere/a.pdf', contentType }), /cannot be read: ENOENT/],
    ['a folder', () => ({ path: folder, contentType }), /not a file/],
    ['a path that is no text', () => ({ path: 1, contentType }), /not a text/],
    ['a path and a content', () => ({ ...named, path, content: 'YQ==' }), /both/],
    ['a device without end', () => ({ path: '/dev/zero', contentType }), /not a file/],
    [
      'a stream that fails',
      () => ({
        ...named,
        content: new Readable({
          read() {
            this.destroy(new Error('it broke'))
          },
        }),
      }),
      /cannot be read: it broke/,
    ],
    ['a stream of objects', () => ({ ...named, content: Readable.from([{}]) }), /neither bytes nor text/],
    [
      'a stream without end',
      () => ({
        ...named,
        content: new Readable({
          read() {
            this.push(Buffer.alloc(1 << 20))
          },
        }),
      }),
      /more than/,
    ],
    [
      'a stream longer than a mail takes',
      () => ({ ...named, content: chunks(new Uint8Array(8 << 20)) }),
      /at most 7340032 bytes/,
    ],
    ['an empty stream', () => ({ ...named, content: chunks() }), /must not be empty/],
  ])('is refused with the reason: %s', async (_, file, message) => {
    const { notifier } = await deliveryWorld([recordingProvider()])
    const message1 = withFile(file() as AttachmentInput)
    const error = { code: 'invalid_parameter', message: expect.stringMatching(message) }
    await expect(notifier.send(message1)).rejects.toMatchObject(error)
    const { items } = await notifier.sendBatch([withFile(file() as AttachmentInput), mail])
    expect(items).toMatchObject([{ error }, { status: 'queued' }])
    await expect(notifier.validate(withFile(file() as AttachmentInput))).rejects.toMatchObject(error)
  })

  it('makes the same request as the bytes, for an idempotency key', async () => {
    const { notifier } = await deliveryWorld([recordingProvider()])
    const options = { idempotencyKey: 'once' }
    const first = await notifier.send(withFile({ ...named, content: chunks('same') }), options)
    const again = await notifier.send(withFile({ ...named, content: Buffer.from('same') }), options)
    expect(again).toMatchObject({ id: first.id, replayed: true })
    await expect(
      notifier.send(withFile({ ...named, content: chunks('other') }), options),
    ).rejects.toMatchObject({ code: 'idempotency_key_reused' })
  })
})

describe('a file of a message over HTTP', () => {
  let host: Host
  beforeAll(async () => {
    host = await startHost()
  })
  afterAll(() => host.close())

  const post = async (body: unknown, url = '/v1/notifications'): Promise<Answer> =>
    host.call({ method: 'POST', path: url, body, headers: await host.key() })

  it.each(['/v1/notifications', '/v1/notifications/batch'])('is never a path: %s', async (url) => {
    const message = withFile({ ...named, path })
    const { status, json } = await post(url.endsWith('batch') ? { notifications: [message] } : message, url)
    expect([status, JSON.stringify(json)]).toEqual([
      url.endsWith('batch') ? 201 : expect.any(Number),
      expect.stringMatching(/"(?:invalid_parameter|missing_required_field)"/),
    ])
    expect(JSON.stringify(json)).not.toMatch(/"id":"notif_|from a file/)
  })
})
