import { coalesce } from '../../coalesce/coalesce.ts'
import { MAX_RECIPIENT_LENGTH } from '../../domain/channel-kind.ts'
import { invalidOption } from '../../domain/errors/invalid-option.ts'
import { NotifierError } from '../../domain/errors/notifier-error.ts'
import type { Clock } from '../../ports/clock.ts'
import { within } from '../within.ts'
import type { ResolvedRecipients } from './options.ts'

/** A person as resolved and checked. */
export interface ResolvedPerson {
  /** Null-prototype: addresses by channel, without duplicates. */
  readonly channels: Readonly<Record<string, readonly string[]>>
  readonly locale?: string
  readonly timeZone?: string
}

/** The application's people. Calls of one turn of the event loop share a look-up. */
export interface PeopleFinder {
  /**
   * One person. Null: unknown.
   *
   * @throws NotifierError `service_unavailable`, or `invalid_configuration` for a result of the wrong shape
   */
  one(organizationId: string, id: string): Promise<ResolvedPerson | null>
  /** Several people, in sets. Unknown ids are missing. */
  many(organizationId: string, ids: readonly string[]): Promise<ReadonlyMap<string, ResolvedPerson>>
}

/** Ids per call of the resolver. */
const MOST_IDS = 1_000
/** Addresses of a person on one channel. */
const MOST_ADDRESSES = 100
const MOST_TEXT = 64
const RETRY_AFTER_MS = 5_000

interface Wanted {
  readonly organizationId: string
  readonly id: string
}

export function createPeople({ resolve, timeoutMs }: ResolvedRecipients, clock: Clock): PeopleFinder {
  const one = coalesce<Wanted, ResolvedPerson | null>(
    async (wanted) => {
      const sets = new Map<string, Promise<ReadonlyMap<string, ResolvedPerson>>>()
      for (const { organizationId } of wanted) {
        if (sets.has(organizationId)) continue
        const ids = wanted.flatMap((each) => (each.organizationId === organizationId ? each.id : []))
        sets.set(organizationId, ask(organizationId, [...new Set(ids)]))
      }
      // Each caller waits for its own organization only.
      return wanted.map(async ({ organizationId, id }) => (await sets.get(organizationId))?.get(id) ?? null)
    },
    { maxWeight: MOST_IDS },
  )

  /** @param ids different ones, at most {@link MOST_IDS} */
  async function ask(
    organizationId: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, ResolvedPerson>> {
    const abort = new AbortController()
    let people: unknown
    try {
      const work = Promise.resolve(resolve(ids, { organizationId, signal: abort.signal }))
      if (!(await within(work, timeoutMs, clock))) {
        abort.abort(new Error('The resolver of recipients did not answer in time.'))
        throw unavailable(`did not answer within ${timeoutMs / 1_000} seconds`, undefined)
      }
      people = await work
    } catch (cause) {
      throw abort.signal.aborted ? cause : unavailable('failed: see `cause`', cause)
    }
    return soundPeople(people, ids)
  }

  return {
    one: (organizationId, id) => one({ organizationId, id }),
    async many(organizationId, ids) {
      const different = [...new Set(ids)]
      const found = new Map<string, ResolvedPerson>()
      for (let at = 0; at < different.length; at += MOST_IDS) {
        for (const [id, person] of await ask(organizationId, different.slice(at, at + MOST_IDS)))
          found.set(id, person)
      }
      return found
    },
  }
}

function unavailable(what: string, cause: unknown): NotifierError {
  return new NotifierError('service_unavailable', {
    message: `The resolver of recipients ${what}. Repeat the call later.`,
    retryAfterMs: RETRY_AFTER_MS,
    cause,
  })
}

function soundPeople(people: unknown, ids: readonly string[]): ReadonlyMap<string, ResolvedPerson> {
  if (typeof people !== 'object' || people === null || Array.isArray(people))
    throw wrong('must answer a Map or an object of people by id')
  const found = new Map<string, ResolvedPerson>()
  for (const id of ids) {
    const person: unknown =
      people instanceof Map ? people.get(id) : Object.hasOwn(people, id) ? Reflect.get(people, id) : null
    if (person !== null && person !== undefined) found.set(id, soundPerson(person, id))
  }
  return found
}

function soundPerson(person: unknown, id: string): ResolvedPerson {
  const { channels, locale, timeZone } = Object(person) as Record<string, unknown>
  if (typeof channels !== 'object' || channels === null || Array.isArray(channels))
    throw wrong(`must answer an object "channels" for "${id}"`)
  const sound: Record<string, readonly string[]> = Object.create(null)
  for (const [channel, given] of Object.entries(channels)) {
    if (given === undefined || given === null) continue
    const addresses: readonly unknown[] = Array.isArray(given) ? given : [given]
    if (addresses.length > MOST_ADDRESSES)
      throw wrong(`must answer at most ${MOST_ADDRESSES} addresses per channel, for "${id}" and ${channel}`)
    if (!addresses.every(isAddress))
      throw wrong(`must answer an address or a list of them, for "${id}" and ${channel}`)
    sound[channel] = [...new Set(addresses as readonly string[])]
  }
  return {
    channels: sound,
    ...textOf('locale', locale, id),
    ...textOf('timeZone', timeZone, id),
  }
}

function isAddress(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && value.length <= MAX_RECIPIENT_LENGTH
}

function textOf(
  name: 'locale' | 'timeZone',
  value: unknown,
  id: string,
): { readonly [Name in typeof name]?: string } {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'string' || value === '' || value.length > MOST_TEXT)
    throw wrong(`must answer "${name}" as a text of at most ${MOST_TEXT} characters, for "${id}"`)
  return { [name]: value }
}

function wrong(rule: string): NotifierError {
  return invalidOption('recipients.resolve', `The option "recipients.resolve" ${rule}.`)
}
