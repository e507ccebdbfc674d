import { expect, it } from 'vitest'
import { createPepper } from '../../../../src/core/people/pepper.ts'
import { pepperWrites } from '../../../../src/core/people/pepper-records.ts'
import { createPersonHashes } from '../../../../src/core/people/person-hashes.ts'
import type { Storage } from '../../../../src/core/ports/storage/storage.ts'
import { createRecordStores } from '../../../../src/core/records/record-stores.ts'
import { inMemory } from '../../../support/in-memory.ts'
import { kindOf } from '../../../support/kinds.ts'
import { HASHES, hashesOf } from '../../../support/person-hashes.ts'

const email = kindOf('email')

async function started(): Promise<Storage> {
  const storage = inMemory()
  const stores = createRecordStores(storage.records, () => null)
  createPepper(stores)
  await storage.start({ kinds: stores.kinds })
  return storage
}

const pepperOf = (storage: Storage) => createPepper(createRecordStores(storage.records, () => null))()

it('is one for all that start at once, and later, with 256 bits', async () => {
  const storage = await started()
  const peppers = await Promise.all(Array.from({ length: 10 }, () => pepperOf(storage)))
  const [pepper = ''] = peppers
  expect(new Set([...peppers, await pepperOf(storage)]).size).toBe(1)
  expect(Buffer.from(pepper, 'base64url')).toHaveLength(32)
  expect(await pepperOf(await started())).not.toBe(pepper)
})

const [foreign, check] = pepperWrites('the pepper of another storage')
const without = ({ kind, id }: typeof foreign | typeof check) => ({ kind, do: 'remove', id }) as const

it.each([
  ['another pepper', [without(foreign), foreign]],
  ['no pepper', [without(foreign)]],
  ['another check', [without(check), check]],
  ['no check', [without(check)]],
])('says what to do about %s', async (_what, writes) => {
  const storage = await started()
  const pepper = await pepperOf(storage)
  for (const write of writes) await storage.records.write([[write]])
  for (let time = 0; time < 2; time += 1)
    await expect(pepperOf(storage)).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringMatching(/Restore the record "pepper" .* from a backup/),
    })
  await storage.records.write([pepperWrites(pepper).map(without)])
  await storage.records.write([pepperWrites(pepper)])
  expect(await pepperOf(storage)).toBe(pepper)
})

it('makes hashes that are the same for every spelling, and for nothing else', async () => {
  const { address, addressName, recipient } = HASHES
  const hash = address(email, 'ada@example.com')
  expect(hash).toMatch(/^[\w-]{32}$/)
  expect(address(email, 'Ada@EXAMPLE.com')).toBe(hash)
  expect(addressName(email, 'Ada@EXAMPLE.com')).toBe(`email ${hash}`)
  const others = [
    address(email, 'bob@example.com'),
    address(kindOf('webhook'), 'ada@example.com'),
    recipient('ada@example.com'),
    (await hashesOf(await started())).address(email, 'ada@example.com'),
  ]
  expect(new Set([hash, ...others]).size).toBe(5)
})

it('are those of records and links that exist, whatever the version', () => {
  expect(HASHES.address(email, 'ada@example.com')).toBe('DKIgrOTBuQaaNa1p2RDm-UHRNY2DvyUk')
  expect(HASHES.recipient('user:42')).toBe('5NgyPelj1X-zQPBKkr1EPD2klZVqdP7U')
})

it('are made after a start only', () => {
  const hashes = createPersonHashes(async () => 'a pepper')
  expect(() => hashes.address(email, 'ada@example.com')).toThrow(
    expect.objectContaining({ code: 'not_started' }),
  )
  expect(() => hashes.recipient('user:42')).toThrow(expect.objectContaining({ code: 'not_started' }))
})
