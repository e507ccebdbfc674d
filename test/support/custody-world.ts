import { onTestFinished } from 'vitest'
import type { Message, Provider } from '../../src/core/ports/provider.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import type { ErasureRecord, ExportedLine, PersonInput } from '../../src/features/custody/model.ts'
import type { Notifier, NotifierOptions } from '../../src/index.ts'
import { eventually } from './eventually.ts'
import { openStorage, type StorageLocation } from './faults/store.ts'

export interface CustodyWorld {
  readonly notifier: Notifier
  readonly storage: Storage
  readonly sent: Message[]
  moveOn(ms: number): void
  /** Erases to the end, with the minute that it waits. */
  erase(person: PersonInput, over?: Pick<Notifier, 'people'>): Promise<ErasureRecord>
  exported(person: PersonInput, over?: Pick<Notifier, 'people'>): Promise<ExportedLine[]>
}

export interface CustodyWorldOptions extends Partial<NotifierOptions> {
  readonly deliver?: boolean
  /** Whether it lives in the future: a later process. */
  readonly laterMs?: number
  /** The storage as the notifier sees it. */
  readonly wrap?: (storage: Storage) => Storage
  readonly send?: Provider['send']
}

/** A machine that does other things erases 10,000 notifications in half a minute. */
const FOR_LONG = { withinMs: 180_000 }

/** A notifier at a place, whose time can be moved on. */
export async function custodyWorld(
  location: StorageLocation,
  { deliver = true, laterMs = 0, wrap = (storage) => storage, send, ...options }: CustodyWorldOptions = {},
): Promise<CustodyWorld> {
  let shift = laterMs
  const clock = {
    now: () => Date.now() + shift,
    monotonic: () => performance.now() + shift,
    timer(delayMs: number, callback: () => void) {
      const timer = setTimeout(callback, delayMs)
      timer.unref()
      return () => clearTimeout(timer)
    },
  }
  const storage = wrap(openStorage(location, () => shift))
  const sent: Message[] = []
  const notifier = createNotifier({
    storage,
    clock,
    channels: {
      email: {
        name: 'mail',
        async send(message, context) {
          sent.push(message)
          return send?.(message, context) ?? { kind: 'accepted', providerMessageId: `m${sent.length}` }
        },
      },
    },
    ...options,
  } as NotifierOptions)
  onTestFinished(() => notifier.stop())
  await notifier.start({ deliver })
  return {
    notifier,
    storage,
    sent,
    moveOn(ms) {
      shift += ms
    },
    async erase(person, { people } = notifier) {
      const begun = await people.erase(person)
      shift += 61_000
      return eventually(async () => {
        const erasure = await people.getErasure(begun.id ?? '')
        return erasure.status === 'completed' ? erasure : undefined
      }, FOR_LONG)
    },
    async exported(person, { people } = notifier) {
      const lines: ExportedLine[] = []
      for await (const line of await people.export(person)) lines.push(line)
      return lines
    },
  }
}
