import { randomBytes } from 'node:crypto'
import type { KeyRecord } from '../../core/access/verify-key.ts'
import { NotifierError } from '../../core/errors/notifier-error.ts'
import type { FeatureCore } from '../../core/feature.ts'
import type { LinkSigner } from '../../core/links/link-signer.ts'
import type { RecordKind } from '../../core/records/record-kind.ts'

/** Sessions of users who signed in to the dashboard with an API key or operator key. */
export interface Sessions {
  /**
   * Begins a session.
   *
   * @returns the token of the session
   * @throws NotifierError `invalid_api_key`, `expired_api_key`
   */
  begin(secret: string): Promise<string>
  /**
   * Begins the session of a link made by {@link Sessions.invite}. A link works once.
   *
   * @throws NotifierError `session_required`, and the errors of the key
   */
  accept(invitation: string): Promise<string>
  /**
   * Makes the token of a sign-in link for the key. It works once, within ten minutes.
   *
   * @throws NotifierError `not_found`
   */
  invite(keyId: string): Promise<string>
  /**
   * The session with its current key: deleting or expiring the key ends the session.
   *
   * @throws NotifierError `session_required`
   */
  find(token: string): Promise<Session>
  /** Ends a session permanently, in every process. Ignores unknown tokens. */
  end(token: string): Promise<void>
}

export interface Session {
  readonly id: string
  readonly key: KeyRecord
}

export interface SessionServices extends FeatureCore {
  readonly secrets: { signer(): LinkSigner }
}

export const SESSION_MS: number = 8 * 60 * 60_000
const INVITATION_MS = 10 * 60_000
const ended = (id: string): string => `ended-session:${id}`
const used = (id: string): string => `invitation:${id}`

/** Ended sessions and used sign-in links, until they would have expired anyway. */
export const usedTokenKind: RecordKind = {
  name: 'used_tokens',
  version: 1,
  notPersonal: 'a hash, for some minutes',
}

/** A token contains the id of the key, not the key, so that it is useless without this service. */
export function createSessions({ stores, clock, keys, secrets }: SessionServices): Sessions {
  const usedTokens = stores.of(usedTokenKind)

  const newToken = (purpose: 'session' | 'sign-in', keyId: string): string =>
    secrets.signer().sign(purpose, [keyId, randomBytes(16).toString('base64url'), clock.now()].join('\n'))

  function read(purpose: 'session' | 'sign-in', token: string, maxAgeMs: number) {
    const [keyId = '', id = '', begun = ''] = secrets.signer().verify(purpose, token)?.split('\n') ?? []
    return keyId === '' || Number(begun) + maxAgeMs <= clock.now() ? null : { keyId, id }
  }

  return {
    async begin(secret) {
      const { id } = await keys.verify(secret)
      return newToken('session', id)
    },
    async accept(invitation) {
      const invited = read('sign-in', invitation, INVITATION_MS)
      if (invited === null || (await keys.current(invited.keyId)) === null) throw outdatedLink()
      const mark = { id: used(invited.id), organizationId: null, value: {} }
      if ((await usedTokens.insert(mark)) === 'taken') throw outdatedLink()
      return newToken('session', invited.keyId)
    },
    async invite(keyId) {
      if (typeof keyId !== 'string' || (await keys.current(keyId)) === null) {
        throw new NotifierError('not_found', {
          message: 'No key has this id. Give the id of a key (key.id), not its secret.',
        })
      }
      return newToken('sign-in', keyId)
    },
    async find(token) {
      const found = read('session', token, SESSION_MS)
      if (found === null) throw new NotifierError('session_required')
      const [key, end] = await Promise.all([
        keys.current(found.keyId),
        usedTokens.find({ id: ended(found.id) }),
      ])
      if (key === null || end !== null) throw new NotifierError('session_required')
      return { id: found.id, key }
    },
    async end(token) {
      const found = read('session', token, SESSION_MS)
      if (found !== null) await usedTokens.keep({ id: ended(found.id), organizationId: null, value: {} })
    },
  }
}

function outdatedLink(): NotifierError {
  return new NotifierError('session_required', {
    message:
      'The link has been used or is older than ten minutes. Ask for a new one, or sign in with an API key.',
  })
}
