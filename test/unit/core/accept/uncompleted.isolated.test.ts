import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Complete } from '../../../../src/core/accept/complete.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { mail, notifierWorld } from '../../../support/notifier-world.ts'

const { complete } = vi.hoisted(() => ({ complete: vi.fn<Complete>() }))

/** The feature has the uploads, but completes no message. */
vi.mock('../../../../src/features/attachments/complete.ts', () => ({ completeWithUploads: () => complete }))
beforeEach(() => {
  complete.mockReset()
})

const about = { filename: 'a.pdf', contentType: 'application/pdf' }
const given = { ...about, content: 'YQ==' }

describe.each<[string, Complete]>([
  ['completes', () => undefined],
  ['completes, though one answers,', async (drafts) => drafts],
  ['completes, though one answers for none,', async () => []],
])('an upload that no feature %s', (_, answer) => {
  async function start() {
    complete.mockImplementation(answer)
    const world = notifierWorld()
    const provider = recordingProvider()
    const notifier = await world.start({ channels: { email: provider } })
    const { id } = await notifier.attachments.upload('YQ==', about)
    return { world, provider, notifier, naming: { ...mail, email: { attachments: [given, { id }] } } }
  }
  const refused = { code: 'unknown_attachment', details: { field: 'email.attachments.1.id' } }

  it('is refused in a send, a validation and a preview', async () => {
    const { notifier, naming } = await start()
    await expect(notifier.send(naming)).rejects.toMatchObject(refused)
    await expect(notifier.validate(naming)).rejects.toMatchObject(refused)
    const { channel, body, email } = naming
    await expect(notifier.templates.previewDraft({ channel, body, email })).rejects.toMatchObject(refused)
    expect((await notifier.notifications.list()).items).toEqual([])
  })

  it('is refused by itself in a batch', async () => {
    const { world, provider, notifier, naming } = await start()
    const { items } = await notifier.sendBatch([mail, naming, { ...mail, email: { attachments: [given] } }])
    expect(items).toMatchObject([{ status: 'queued' }, { error: refused }, { status: 'queued' }])
    await world.clock.advance(1_000)
    expect(provider.messages.map(({ email }) => email?.attachments?.length ?? 0)).toEqual([0, 1])
    // One call for the whole batch.
    expect(complete.mock.calls.map(([drafts]) => drafts.length)).toEqual([3])
  })
})
