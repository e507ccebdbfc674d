import { createPepper } from '../../src/core/people/pepper.ts'
import { pepperWrites } from '../../src/core/people/pepper-records.ts'
import { createPersonHashes, type PersonHashes } from '../../src/core/people/person-hashes.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { createRecordStores } from '../../src/core/records/record-stores.ts'
import { kindOf } from './kinds.ts'

async function open(pepper: () => Promise<string>): Promise<PersonHashes> {
  const hashes = createPersonHashes(pepper)
  await hashes.open()
  return hashes
}

const PEPPER = 'a pepper of tests'

/** Those of parts that are tested without a storage, and of storages with a known pepper. */
export const HASHES = await open(async () => PEPPER)

/** The storage with a known pepper, so that all links to an address are the same. */
export function withKnownPepper<Any extends Storage>(storage: Any): Any {
  return {
    ...storage,
    async start(options) {
      await storage.start(options)
      await storage.records.write([pepperWrites(PEPPER)])
    },
  }
}

/** Those of another storage that a notifier has started. */
export function hashesOf(storage: Pick<Storage, 'records'>): Promise<PersonHashes> {
  return open(createPepper(createRecordStores(storage.records, () => null)))
}

/** An e-mail address as links in messages of a notifier on this storage contain it. */
export async function emailHash(storage: Pick<Storage, 'records'>, to: string): Promise<string> {
  return (await hashesOf(storage)).address(kindOf('email'), to)
}
