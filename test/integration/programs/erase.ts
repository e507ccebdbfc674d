/** Erases a person, and says so, until it is killed. */
import { createNotifier } from '../../../src/create-notifier.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { openStorage, type StorageLocation } from '../../support/faults/store.ts'

export interface EraseProgram {
  readonly location: StorageLocation
  readonly to: string
}

const { location, to }: EraseProgram = JSON.parse(process.argv[2] ?? '{}')
const storage = openStorage(location)
const notifier = createNotifier({
  storage: {
    ...storage,
    custody: {
      ...storage.custody,
      async erase(request) {
        const answer = await storage.custody.erase(request)
        process.stdout.write('step\n')
        return answer
      },
    },
  },
  channels: { email: recordingProvider() },
})
await notifier.start()
await notifier.people.erase({ channel: 'email', to })
