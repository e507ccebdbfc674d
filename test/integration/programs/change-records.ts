/** Changes records as a process of one release does, until it is killed. Each line says what has been stored. */
import { createRecordStores } from '../../../src/core/records/record-stores.ts'
import { openStorage, type StorageLocation } from '../../support/faults/store.ts'
import { kindOf, type Profile, RECORDS } from '../../support/profile-kind.ts'

export interface ChangeRecordsProgram {
  readonly location: StorageLocation
  /** Of the kind. */
  readonly version: 1 | 2 | 3
  readonly name: string
}

const { location, version, name }: ChangeRecordsProgram = JSON.parse(process.argv[2] ?? '{}')
const say = (line: string): void => void process.stdout.write(`${line}\n`)

const storage = openStorage(location)
const stores = createRecordStores(storage.records, () => null)
const profiles = stores.of(kindOf(version))
await storage.start({ kinds: stores.kinds })
say('started')
for (let turn = 0; ; turn += 1) {
  const id = `profile_${turn % RECORDS}`
  const first: Profile = { name: id, counts: {} }
  await profiles.keep({
    id,
    organizationId: 'org_default',
    value: kindOf(version).upgrade?.(first, 1) ?? first,
  })
  const changed = await profiles.change(id, ({ value }) => {
    return { ...value, counts: { ...value.counts, [name]: (value.counts[name] ?? 0) + 1 } }
  })
  if (typeof changed === 'string') throw new Error(changed)
  say(`stored ${id} ${changed.value.counts[name]}`)
}
