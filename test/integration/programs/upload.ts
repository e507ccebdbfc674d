// A process that uploads a file, and dies by its own hand before a write of records.
// Usage: node upload.ts <options as JSON>

import type { Records } from '../../../src/core/ports/storage/records.ts'
import { createNotifier } from '../../../src/create-notifier.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { openStorage, type StorageLocation } from '../../support/faults/store.ts'

export interface UploadProgram {
  readonly location: StorageLocation
  readonly organizationId: string
  /** Writes of the upload before the end. */
  readonly writes: number
}

const { location, organizationId, writes }: UploadProgram = JSON.parse(process.argv[2] ?? '')
const storage = openStorage(location)
let done = Number.NEGATIVE_INFINITY
const records: Records = {
  ...storage.records,
  async write(sets) {
    if (done === writes) process.kill(process.pid, 'SIGKILL')
    done += 1
    return storage.records.write(sets)
  },
}
const notifier = createNotifier({
  channels: { email: recordingProvider() },
  storage: { ...storage, records },
})
await notifier.start({ deliver: false })
done = 0
const file = { filename: 'a.bin', contentType: 'application/octet-stream' }
await notifier.organization(organizationId).attachments.upload(new Uint8Array(2 * 1024 * 1024), file)
