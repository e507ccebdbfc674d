import { Readable } from 'node:stream'
import { describe, expect, it, vi } from 'vitest'
import { uploadKind } from '../../../../src/core/accept/upload.ts'
import type { Storage } from '../../../../src/core/ports/storage/storage.ts'
import { DEFAULT_ORGANIZATION } from '../../../../src/core/tenancy/organization.ts'
import { type Plan, UNLIMITED } from '../../../../src/core/tenancy/plans.ts'
import type { AttachmentOptions } from '../../../../src/features/attachments/options.ts'
import { uploadChunkKind } from '../../../../src/features/attachments/records.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { mail, notifierWorld } from '../../../support/notifier-world.ts'

const DAY = 86_400_000
const about = { filename: 'a.pdf', contentType: 'application/pdf' }
const MiB = 1024 * 1024

async function start(attachments?: AttachmentOptions, plan: Partial<Plan> = {}) {
  const world = notifierWorld()
  const provider = recordingProvider()
  const plans = { free: { ...UNLIMITED, ...plan } }
  const options = { channels: { email: provider }, retention: { logDays: 1 }, plans }
  const notifier = await world.start({ ...options, ...(attachments && { attachments }) })
  await notifier.organizations.create({ id: 'org_a', name: 'A' })
  return { world, provider, notifier, other: notifier.organization('org_a') }
}

const withUploads = (...ids: readonly string[]) => ({
  ...mail,
  email: { attachments: ids.map((id) => ({ id })) },
})

/** Characters of uploads and notifications. */
async function storedBytes({ records, notifications }: Storage): Promise<number> {
  const owned = { organizationId: DEFAULT_ORGANIZATION }
  const page = { limit: 100, offset: 0 }
  const kinds = [uploadKind, uploadChunkKind].map((kind) => records.list<object>(kind, owned, page))
  const { items } = await notifications.list(owned, page)
  const whole = await Promise.all(items.map(({ id }) => notifications.get(id)))
  const stored = [...(await Promise.all(kinds)).flatMap((list) => list.items), ...whole]
  return stored.length === 0 ? 0 : JSON.stringify(stored).length
}

describe('an upload', () => {
  it('is stored once, and stays for the mails that name it', async () => {
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
    const stored = () => storedBytes(world.storage)
    expect(await stored()).toBeLessThan(1.4 * content.length)
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
    const buffers = new Set(
      provider.messages.flatMap(({ email }) =>
        (email?.attachments ?? []).flatMap((file) => (file.content.length > 1 ? file.content : [])),
      ),
    )
    expect(buffers.size).toBe(1)
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

  it('that is an inline image is shown in the stored message, up to 2 MiB in all', async () => {
    const { notifier } = await start()
    const image = { filename: 'a.png', contentType: 'image/png' }
    const sizes = [MiB, 2 * MiB, MiB, 10]
    const uploads = await Promise.all(
      sizes.map((size) => notifier.attachments.upload(Buffer.alloc(size, 7), image)),
    )
    const attachments = uploads.map(({ id }, at) => (at === 3 ? { id } : { id, cid: `image-${at}` }))
    const { id } = await notifier.send({ ...mail, email: { attachments } })
    const { rendered } = await notifier.notifications.get(id, { rendered: true })
    const shown = (rendered?.email?.attachments ?? []).map(({ size, content }) => [size, content])
    const text = Buffer.alloc(MiB, 7).toString('base64')
    expect(shown).toEqual([
      [MiB, text],
      [2 * MiB, undefined],
      [MiB, text],
      [10, undefined],
    ])
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

  it('counts against the budget of its organization until it is gone', async () => {
    const { notifier, other, world } = await start(undefined, { storedBytes: 4_000 })
    const upload = (size: number) => other.attachments.upload(new Uint8Array(size), about)
    const used = async () => (await other.limits.get()).limits.storedBytes?.used
    const empty = await used()
    expect(empty).toBe(0)
    const { id } = await upload(1_500)
    const named = await other.send(withUploads(id))
    const error = await upload(1_500).catch((thrown) => thrown)
    expect(error).toMatchObject({
      code: 'storage_quota_exceeded',
      status: 422,
      details: { resource: 'stored_bytes', limit: 4_000, used: expect.any(Number) },
    })
    const before = await used()
    await other.attachments.delete(id)
    await world.clock.advance(60_000)
    expect(await world.ended(notifier, named.id, 'org_a')).toBe('sent')
    expect(await used()).toBeGreaterThanOrEqual(before ?? 0)
    await expect(upload(1_500)).rejects.toMatchObject({ code: 'storage_quota_exceeded' })
    await notifier.attachments.upload(new Uint8Array(10_000), about)
    await world.clock.advance(DAY + 2 * 3_600_000)
    expect(await used()).toBe(0)
    await upload(1_500)
  })

  it('at the same time as others never exceeds the budget, and leaves nothing when refused', async () => {
    const { other, world } = await start(undefined, { storedBytes: 5_000 })
    const uploads = Array.from({ length: 10 }, () => other.attachments.upload(new Uint8Array(900), about))
    const results = await Promise.allSettled(uploads)
    const kept = results.filter(({ status }) => status === 'fulfilled').length
    expect(kept).toBeGreaterThan(0)
    expect(await world.storage.records.stored('org_a')).toBeLessThan(5_000)
    const { items } = await world.storage.records.list(
      uploadKind,
      { organizationId: 'org_a' },
      { limit: 50, offset: 0 },
    )
    expect(items).toHaveLength(kept)
  })

  it('keeps to the limit of files in a message', async () => {
    const { notifier } = await start()
    const { id } = await notifier.attachments.upload(new Uint8Array(4 * MiB), about)
    await expect(notifier.send(withUploads(id, id))).rejects.toMatchObject({
      code: 'invalid_parameter',
      details: { field: 'email.attachments' },
    })
    const batch = await notifier.sendBatch([withUploads(id), withUploads(id, id), withUploads(id)])
    expect(batch.items.map((item) => 'error' in item && item.error.code)).toEqual([
      false,
      'invalid_parameter',
      false,
    ])
  })

  it('ends after a day; then it is removed, and what a killed process left behind', async () => {
    const { notifier, world } = await start()
    const { id } = await notifier.attachments.upload('YQ==', about)
    const value = { ...about, size: MiB, complete: false }
    const part = { kind: uploadChunkKind, do: 'insert', value: { content: 'YQ==' } } as const
    const owned = { organizationId: DEFAULT_ORGANIZATION }
    await world.storage.records.write([
      [
        { kind: uploadKind, do: 'insert', id: 'att_x', ...owned, value },
        { ...part, id: 'att_x/0', ...owned },
        { kind: uploadKind, do: 'insert', id: 'att_y/rest', ...owned, value },
        { ...part, id: 'att_y/1', ...owned },
      ],
    ])
    const left = async () => {
      const kinds = [uploadKind, uploadChunkKind]
      const all = kinds.map((kind) =>
        world.storage.records.list<object>(kind, owned, { limit: 9, offset: 0 }),
      )
      return (await Promise.all(all)).map(({ items }) => items.map((item) => item.id).sort())
    }
    await world.clock.advance(DAY - 1)
    await notifier.validate(withUploads(id))
    expect(await left()).toEqual([['att_x', id].sort(), ['att_x/0', `${id}/0`].sort()])
    await world.clock.advance(1)
    await expect(notifier.validate(withUploads(id))).rejects.toMatchObject({ code: 'unknown_attachment' })
    await world.clock.advance(2 * 3_600_000)
    expect(await left()).toEqual([[], []])
  })

  it.each(['expired', 'deleted'])('stays %s while a mail names it, also for a resend', async (how) => {
    const { notifier, world, provider } = await start()
    const { id } = await notifier.attachments.upload('YQ==', about)
    const sent = await notifier.send({ ...withUploads(id), sendAt: new Date(world.clock.now() + 2 * DAY) })
    if (how === 'deleted') await notifier.attachments.delete(id)
    await world.clock.advance(2 * DAY + 60_000)
    expect(await world.ended(notifier, sent.id)).toBe('sent')
    const again = await notifier.notifications.resend(sent.id)
    await world.clock.advance(60_000)
    expect(await world.ended(notifier, again.id)).toBe('sent')
    expect(provider.messages.map(({ email }) => email?.attachments?.[0]?.content)).toEqual([
      Buffer.from('a'),
      Buffer.from('a'),
    ])
    expect(await storedBytes(world.storage)).toBeGreaterThan(0)
    await world.clock.advance(DAY + 2 * 3_600_000)
    expect(await storedBytes(world.storage)).toBe(0)
  })

  it('is neither read nor copied by a validation or a preview', async () => {
    const { notifier, world } = await start()
    const { id } = await notifier.attachments.upload(new Uint8Array(2 * MiB), about)
    const get = vi.spyOn(world.storage.records, 'get')
    const shown = { email: { attachments: [{ ...about, size: 2 * MiB }] } }
    expect((await notifier.validate(withUploads(id))).rendered).toMatchObject(shown)
    const draft = { channel: 'email', body: 'Hi', email: { attachments: [{ id }] } } as const
    expect(await notifier.templates.previewDraft(draft)).toMatchObject(shown)
    await expect(notifier.validate(withUploads(id, id, id, id))).rejects.toMatchObject({
      code: 'invalid_parameter',
    })
    expect(get.mock.calls.filter(([kind]) => kind === uploadChunkKind)).toEqual([])
    expect(get.mock.calls.filter(([kind]) => kind === uploadKind)).toHaveLength(3)
  })

  it('of which many mails are sent is read once', async () => {
    const { notifier, world, provider } = await start()
    const { id } = await notifier.attachments.upload(new Uint8Array(2 * MiB), about)
    const get = vi.spyOn(world.storage.records, 'get')
    await notifier.sendBatch(Array.from({ length: 60 }, () => withUploads(id)))
    await world.clock.advance(60_000)
    expect(provider.messages).toHaveLength(60)
    expect(get.mock.calls.filter(([kind]) => kind === uploadChunkKind)).toHaveLength(3)
  })

  it('that is removed while a batch is accepted refuses only the mails that name it', async () => {
    const { notifier, world } = await start()
    const { id } = await notifier.attachments.upload('YQ==', about)
    const accept = world.storage.accept
    let raced = false
    vi.spyOn(world.storage, 'accept').mockImplementation(async (requests) => {
      if (!raced) await notifier.attachments.delete(id)
      raced = true
      return accept(requests)
    })
    const { items } = await notifier.sendBatch([mail, withUploads(id), mail])
    expect(items.map((item) => ('error' in item ? item.error.code : item.status))).toEqual([
      'queued',
      'unknown_attachment',
      'queued',
    ])
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
