import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createSecretBox, createStoredSecret } from '../../../../src/core/access/secrets.ts'
import { createLinkSigner } from '../../../../src/core/links/link-signer.ts'
import type { Storage } from '../../../../src/core/ports/storage/storage.ts'
import { createRecordStores } from '../../../../src/core/records/record-stores.ts'
import { inMemory } from '../../../support/in-memory.ts'

const [first, second, third] = ['the first secret', 'the second secret', 'the third secret'] as const

it('opens what it sealed, and seals the same text differently each time', () => {
  const box = createSecretBox([first])
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (plain) => {
      const sealed = [box.seal(plain), box.seal(plain)]
      expect(sealed.map(box.open)).toEqual([plain, plain])
      expect(sealed[0]).not.toBe(sealed[1])
    }),
  )
  expect(box.seal('whsec_very-visible')).not.toContain('visible')
})

it('opens with older secrets, and seals with the newest', () => {
  const old = createSecretBox([first]).seal('a')
  const rotated = createSecretBox([second, first])
  expect(rotated.open(old)).toBe('a')
  expect(createSecretBox([second]).open(rotated.seal('b'))).toBe('b')
  expect(createSecretBox([third, second, first]).open(old)).toBe('a')
})

it('says what to do when the secret is gone', () => {
  const sealed = createSecretBox([first]).seal('a')
  expect(() => createSecretBox([second]).open(sealed)).toThrow('Add the old one to the option "secret"')
})

it.each(['', 'v1', 'v2.x.y', 'whsec_x'])('refuses %j', (sealed) => {
  expect(() => createSecretBox([first]).open(sealed)).toThrow()
})

it('refuses a text in which any character was changed', () => {
  const box = createSecretBox([first])
  const sealed = box.seal('a secret')
  for (let at = 0; at < sealed.length - 1; at += 1) {
    const changed = `${sealed.slice(0, at)}${sealed[at] === 'A' ? 'B' : 'A'}${sealed.slice(at + 1)}`
    expect(() => box.open(changed), `${at}`).toThrow()
  }
})

it('needs a secret', () => {
  expect(() => createSecretBox([])).toThrow('At least one secret')
  expect(() => createLinkSigner([])).toThrow('At least one secret')
})

it('without a configured secret, processes share a stored one of 256 bits', async () => {
  const secretOf = async (storage: Storage) => {
    const stores = createRecordStores(storage.records, () => null)
    const stored = createStoredSecret(stores)
    await storage.start({ kinds: stores.kinds })
    return stored()
  }
  const storage = inMemory()
  const first = await secretOf(storage)
  expect(Buffer.from(first, 'base64url')).toHaveLength(32)
  expect(await secretOf(storage)).toBe(first)
  expect(await secretOf(inMemory())).not.toBe(first)
})

it('knows for good what a secret has sealed and signed: it is in databases and in mails', () => {
  const secret = 'a-secret-of-the-application'
  const sealed = 'v1.2qQqYXFq.Zs77_11ZnnUxeECqw_3SO3UVaGTdwhAoiYW0Rp-1kuM-bl8'
  expect(createSecretBox([secret]).open(sealed)).toBe('whsec_x')
  const token = 'bm90aWZfMQ.AsXAv1TUGMSTQPIPC1pLFg'
  expect(createLinkSigner([secret]).verify('unsubscribe', token)).toBe('notif_1')
})
