// A process that deletes an organization, and dies by its own hand after so many steps.
// Usage: node delete-organization.ts <options as JSON>

import type { DeletionRepository } from '../../../src/core/ports/storage/deletions.ts'
import { createNotifier } from '../../../src/create-notifier.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { openStorage, type StorageLocation } from '../../support/faults/store.ts'

export interface DeleteOrganizationProgram {
  readonly location: StorageLocation
  readonly id: string
  readonly steps: number
}

const { location, id, steps }: DeleteOrganizationProgram = JSON.parse(process.argv[2] ?? '')
const storage = openStorage(location)
let done = 0
const deletions: DeletionRepository = {
  ...storage.deletions,
  async purge(...given) {
    if (done === steps) process.kill(process.pid, 'SIGKILL')
    done += 1
    return storage.deletions.purge(...given)
  },
}
const notifier = createNotifier({
  channels: { email: recordingProvider() },
  storage: { ...storage, deletions },
})
await notifier.start({ deliver: false })
await notifier.organizations.delete(id, { force: true })
