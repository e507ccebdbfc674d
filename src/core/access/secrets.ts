import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import { NotifierError } from '../errors/notifier-error.ts'
import type { RecordKind } from '../records/record-kind.ts'
import type { RecordStores } from '../records/record-stores.ts'

/** Encrypts stored secrets: webhook signing secrets, provider credentials. */
export interface SecretBox {
  seal(plain: string): string
  /** @throws NotifierError `invalid_configuration` if no configured secret decrypts it */
  open(sealed: string): string
}

/** Maximum number of cached plaintexts. */
const MOST_OPENED = 1_000

interface Key {
  readonly id: string
  readonly bytes: Buffer
}

/**
 * AES-256-GCM with a key derived for this purpose. The first secret encrypts; all decrypt, so that `secret` can be
 * rotated.
 */
export function createSecretBox(secrets: readonly string[]): SecretBox {
  const keys = secrets.map(deriveKey)
  const [newest] = keys
  if (newest === undefined)
    throw new NotifierError('invalid_configuration', { message: 'At least one secret is needed.' })
  /** An endpoint's secret signs every event: the cache avoids decrypting it each time. */
  const opened = new Map<string, string>()

  return {
    seal(plain) {
      const iv = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', newest.bytes, iv)
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return `v1.${newest.id}.${Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')}`
    },
    open(sealed) {
      const known = opened.get(sealed)
      if (known !== undefined) return known
      if (opened.size >= MOST_OPENED) opened.clear()
      const plain = unseal(sealed)
      opened.set(sealed, plain)
      return plain
    },
  }

  function unseal(sealed: string): string {
    const [version, id, text = ''] = sealed.split('.')
    const key = keys.find((candidate) => candidate.id === id)
    if (version !== 'v1' || key === undefined) {
      throw new NotifierError('invalid_configuration', {
        message:
          'A stored secret was encrypted with a "secret" that is no longer configured. Add the old one to the option "secret", after the new one.',
      })
    }
    const bytes = Buffer.from(text, 'base64url')
    const decipher = createDecipheriv('aes-256-gcm', key.bytes, bytes.subarray(0, 12))
    decipher.setAuthTag(bytes.subarray(12, 28))
    return decipher.update(bytes.subarray(28), undefined, 'utf8') + decipher.final('utf8')
  }
}

function deriveKey(secret: string): Key {
  const bytes = Buffer.from(hkdfSync('sha256', secret, '', 'carillon/stored-secrets', 32))
  const id = createHash('sha256').update(bytes).digest('base64url').slice(0, 8)
  return { id, bytes }
}

export interface SecretValue {
  readonly secret: string
}

export const secretKind: RecordKind<SecretValue> = {
  name: 'secrets',
  version: 1,
  notPersonal: 'a secret of the service',
}

/** The secret of an application that configures none: 256 random bits, the same for all processes on the storage. */
export function createStoredSecret(stores: RecordStores): () => Promise<string> {
  const store = stores.of(secretKind)
  return async function storedSecret() {
    const mine = { secret: randomBytes(32).toString('base64url') }
    const { value } = await store.keep({ id: 'secret', organizationId: null, value: mine })
    return value.secret
  }
}
