import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { DEFAULT_ORGANIZATION } from '../../../src/domain/organization.ts'
import { uploadKind, uploadPartKind } from '../../../src/services/attachments/kind.ts'
import type { AttachmentOptions } from '../../../src/services/attachments/options.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { mail, notifierWorld } from '../../support/notifier-world.ts'

const DAY = 86_400_000
const about = { filename: 'a.pdf', contentType: 'application/pdf' }
const MiB = 1024 * 1024

async function start(attachments?: AttachmentOptions) {
  const world = notifierWorld()
  const provider = recordingProvider()
  const notifier = await world.start({ channels: { email: provider }, ...(attachments && { attachments }) })
  await notifier.organizations.create({ id: 'org_a', name: 'A' })
  return { world, provider, notifier, other: notifier.organization('org_a') }
}

const withUploads = (...ids: readonly string[]) => ({
  ...mail,
  email: { attachments: ids.map((id) => ({ id })) },
})

describe('an upload', () => {
  it('is copied into the mails that name it, and they do not need it any more', async () => {
    const { notifier, provider, world } = await start()
    const content = Buffer.alloc(2 * MiB + 1, 'abcdefg')
    const upload = await notifier.attachments.upload(content, about)
    expect(upload).toEqual({
      ...about,
      id: expect.stringMatching(/^att_/),
      size: content.length,
      expiresAt: new Date(world.clock.now() + DAY).toISOString(),
    })
    const { id } = upload
    const soon = new Date(world.clock.now() + 60_000)
    const one = await notifier.send({
      ...mail,
      sendAt: soon,
      email: { attachments: [{ id, filename: 'b.pdf', cid: 'logo' }, { ...about, content: 'YQ==' }, { id }] },
    })
    const { items } = await notifier.sendBatch([
      { ...withUploads(id), sendAt: soon },
      withUploads('att_unknown'),
      { ...mail, sendAt: soon },
    ])
    const error = { code: 'unknown_attachment', details: { field: 'email.attachments.0.id' } }
    expect(items[1]).toMatchObject({ error })
    await notifier.attachments.delete(id)
    await expect(notifier.attachments.delete(id)).rejects.toMatchObject({ code: 'not_found' })
    await expect(notifier.send(withUploads(id))).rejects.toMatchObject({ code: 'unknown_attachment' })
    await world.clock.advance(120_000)
    for (const sent of [one, items[0], items[2]]) {
      const ended = sent !== undefined && 'id' in sent ? sent.id : ''
      expect(await world.ended(notifier, ended)).toBe('sent')
    }
    const files = provider.messages.map(({ email }) =>
      // As text: the comparison of large buffers is slow.
      (email?.attachments ?? []).map((file) => ({ ...file, content: Buffer.from(file.content).toString() })),
    )
    const whole = { ...about, content: content.toString() }
    expect(files.sort((a, b) => b.length - a.length)).toEqual([
      [{ ...whole, filename: 'b.pdf', cid: 'logo' }, { ...about, content: 'a' }, whole],
      [whole],
      [],
    ])
  })

  it.each<[string, () => string | Uint8Array | ArrayBuffer | AsyncIterable<string | Uint8Array>]>([
    ['base64', () => 'Ynl0ZXM='],
    ['bytes', () => new Uint8Array(Buffer.from('bytes'))],
    ['a buffer', () => new Uint8Array(Buffer.from('bytes')).buffer],
    ['a stream of Node.js', () => Readable.from(['by', Buffer.from('tes')])],
    ['a stream of the web', () => new Blob(['bytes']).stream()],
  ])('may be %s', async (_name, content) => {
    const { notifier } = await start()
    const { id, size } = await notifier.attachments.upload(content(), about)
    expect(size).toBe(5)
    const { rendered } = await notifier.validate(withUploads(id))
    expect(rendered).toMatchObject({ email: { attachments: [{ ...about, size: 5 }] } })
  })

  it.each<[string, unknown, unknown, string, string]>([
    ['nothing', undefined, about, 'invalid_parameter', 'content'],
    ['an empty file', new Uint8Array(), about, 'invalid_parameter', 'content'],
    ['text that is no base64', 'a b', about, 'invalid_parameter', 'content'],
    ['a stream of objects', Readable.from([{}]), about, 'invalid_parameter', 'content'],
    ['an endless stream', Readable.from(endless()), about, 'payload_too_large', 'content'],
    ['bytes above the limit', new Uint8Array(101), about, 'payload_too_large', 'content'],
    ['base64 above the limit', 'YWFh'.repeat(34), about, 'payload_too_large', 'content'],
    ['no name', 'YQ==', { contentType: 'a/b' }, 'missing_required_field', 'filename'],
    ['a path as its name', 'YQ==', { ...about, filename: '../a' }, 'invalid_parameter', 'filename'],
    ['no type', 'YQ==', { filename: 'a' }, 'missing_required_field', 'contentType'],
    ['a wrong type', 'YQ==', { ...about, contentType: 'a\r\nb: c' }, 'invalid_parameter', 'contentType'],
    ['an unknown field', 'YQ==', { ...about, size: 1 }, 'invalid_parameter', 'size'],
  ])('is refused with %s', async (_name, content, file, code, field) => {
    const { notifier } = await start({ maxBytes: 100 })
    await expect(notifier.attachments.upload(content as string, file as typeof about)).rejects.toMatchObject({
      code,
      details: { field },
    })
  })

  it('belongs to its organization', async () => {
    const { notifier, other } = await start()
    const { id } = await notifier.attachments.upload('YQ==', about)
    await expect(other.send(withUploads(id))).rejects.toMatchObject({ code: 'unknown_attachment' })
    await expect(other.attachments.delete(id)).rejects.toMatchObject({ code: 'organization_mismatch' })
    await expect(notifier.organization('org_b').attachments.upload('YQ==', about)).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  it('counts against the space of its organization until it is deleted', async () => {
    const { notifier, other } = await start({ maxBytes: 60, maxStoredBytes: 100 })
    const { id } = await notifier.attachments.upload(new Uint8Array(60), about)
    const more = () => notifier.attachments.upload(new Uint8Array(41), about)
    await expect(more()).rejects.toMatchObject({ code: 'attachment_limit_reached' })
    await notifier.attachments.upload(new Uint8Array(40), about)
    await other.attachments.upload(new Uint8Array(60), about)
    await notifier.attachments.delete(id)
    await more()
  })

  it('at the same time as others takes the space that is left, in order', async () => {
    const { notifier } = await start({ maxBytes: 60, maxStoredBytes: 100 })
    await notifier.attachments.upload(new Uint8Array(30), about)
    const sizes = [29, 29, 29, 29, 11]
    const uploads = sizes.map((size) => notifier.attachments.upload(new Uint8Array(size), about))
    const results = await Promise.allSettled(uploads)
    expect(results.map(({ status }) => status === 'fulfilled')).toEqual([true, true, false, false, true])
    await expect(notifier.attachments.upload(new Uint8Array(2), about)).rejects.toMatchObject({
      code: 'attachment_limit_reached',
    })
    await notifier.attachments.upload(new Uint8Array(1), about)
  })

  it('keeps to the limit of files in a message, and of uploads in a batch', async () => {
    const { notifier } = await start()
    const { id } = await notifier.attachments.upload(new Uint8Array(4 * MiB), about)
    await expect(notifier.send(withUploads(id, id))).rejects.toMatchObject({
      code: 'invalid_parameter',
      details: { field: 'email.attachments' },
    })
    const batch = await notifier.sendBatch(Array.from({ length: 9 }, () => withUploads(id)))
    expect(batch.items.flatMap((item) => ('error' in item ? item.error.code : []))).toEqual([
      'message_too_large',
    ])
  })

  it('ends after a day; the retention removes it, and what a killed process left behind', async () => {
    const { notifier, world } = await start()
    const { id } = await notifier.attachments.upload('YQ==', about)
    const rest = { kind: uploadPartKind, do: 'insert', id: 'att_x/0', value: { content: 'YQ==' } } as const
    await world.storage.records.write([[{ ...rest, organizationId: DEFAULT_ORGANIZATION }]])
    const left = async (kind: typeof uploadKind | typeof uploadPartKind) => {
      const all = { organizationId: DEFAULT_ORGANIZATION }
      return (await world.storage.records.list<object>(kind, all, { limit: 9, offset: 0 })).items.length
    }
    await world.clock.advance(DAY - 1)
    await notifier.validate(withUploads(id))
    expect([await left(uploadKind), await left(uploadPartKind)]).toEqual([1, 2])
    await world.clock.advance(1)
    await expect(notifier.validate(withUploads(id))).rejects.toMatchObject({ code: 'unknown_attachment' })
    await world.clock.advance(2 * 3_600_000)
    expect([await left(uploadKind), await left(uploadPartKind)]).toEqual([0, 0])
  })

  it('gets the answer of an idempotent send after its end', async () => {
    const { notifier } = await start()
    const { id } = await notifier.attachments.upload('YQ==', about)
    const send = () => notifier.send(withUploads(id), { idempotencyKey: 'one' })
    const first = await send()
    await notifier.attachments.delete(id)
    expect(await send()).toEqual({ ...first, replayed: true })
  })
})

function* endless() {
  for (;;) yield 'x'.repeat(1_000)
}
