import { describe, expect, it, onTestFinished } from 'vitest'
import { uploadKind } from '../../src/core/accept/upload.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import { uploadChunkKind } from '../../src/features/attachments/records.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { openStorage, type StorageLocation } from '../support/faults/store.ts'
import { describeWith } from '../support/left-out.ts'
import { mail } from '../support/notifier-world.ts'
import { sharedPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'
import { runProgram } from '../support/program.ts'
import { temporaryFile } from '../support/sqlite-harness.ts'
import type { UploadProgram } from './programs/upload.ts'

const ID = 'org_acme'
const about = { filename: 'a.pdf', contentType: 'application/pdf' }

async function openNotifier(location: StorageLocation) {
  const storage = openStorage(location)
  const provider = recordingProvider()
  const notifier = createNotifier({ channels: { email: provider }, storage })
  onTestFinished(() => notifier.stop())
  await notifier.start()
  await notifier.organizations.create({ id: ID, name: 'Acme' })
  return { notifier, storage, provider, tenant: notifier.organization(ID) }
}

/** Heads and parts of uploads. */
async function left({ records }: Storage): Promise<readonly string[]> {
  const page = { limit: 100, offset: 0 }
  const heads = await records.list(uploadKind, { organizationId: ID }, page)
  const parts = await records.list(uploadChunkKind, { organizationId: ID }, page)
  return [...heads.items, ...parts.items].map(({ id }) => id)
}

const withUpload = (id: string) => ({ ...mail, email: { attachments: [{ id }] } })

function cases(open: () => Promise<StorageLocation>): void {
  it('is sent byte for byte, and leaves with its organization', async () => {
    const { tenant, provider, storage, notifier } = await openNotifier(await open())
    const content = Buffer.from(Array.from({ length: 1_600_001 }, (_, index) => (index * 7) % 256))
    const { id } = await tenant.attachments.upload(content, about)
    const sent = await tenant.send(withUpload(id))
    await tenant.waitFor(sent.id)
    const [file] = provider.messages[0]?.email?.attachments ?? []
    expect(content.equals(file?.content ?? Buffer.alloc(0))).toBe(true)
    expect(await left(storage)).toHaveLength(4)
    await notifier.organizations.delete(ID, { force: true })
    expect(await left(storage)).toEqual([])
  })

  // The head, three parts, and the end.
  it.each([1, 2, 4])(
    'killed before write %i of an upload: no send can use it, and nothing stays',
    async (writes) => {
      const location = await open()
      const { tenant, storage } = await openNotifier(location)
      const program = runProgram('upload', { location, organizationId: ID, writes } satisfies UploadProgram)
      expect(await program.ended, program.errors.join('\n')).toBe('SIGKILL')
      const [id = '', ...parts] = await left(storage)
      expect(parts).toHaveLength(writes - 1)
      await expect(tenant.send(withUpload(id))).rejects.toMatchObject({ code: 'unknown_attachment' })
      await tenant.attachments.delete(id)
      expect(await left(storage)).toEqual([])
    },
  )
}

describe('an upload on SQLite', () => {
  cases(async () => {
    const { file, remove } = temporaryFile()
    onTestFinished(remove)
    return { sqlite: file }
  })
})

describeWith(whyNoPostgres(), 'an upload on PostgreSQL', () => {
  cases(async () => ({ postgres: { url: await sharedPostgres(), schema: uniqueSchema() } }))
})
