import { setImmediate as nextTurn } from 'node:timers/promises'
import { invalidOption } from '../../core/errors/invalid-option.ts'
import { isNotifierError, NotifierError } from '../../core/errors/notifier-error.ts'
import { coalesce } from '../../core/loop/coalesce.ts'
import { throttled } from '../../core/loop/throttled.ts'
import { within } from '../../core/loop/within.ts'
import type { FoundPerson, PeopleFinder, ResolvedPerson } from '../../core/people/finder.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { ResolvedRecipients } from './options.ts'

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

/**
 * The people of the application. Calls of one turn of the event loop share a look-up.
 *
 * @param onError receives what is wrong about people, with their ids and without their data
 */
export function createPeople(
  { resolve, timeoutMs }: ResolvedRecipients,
  clock: Clock,
  onError: (error: Error) => void,
): PeopleFinder {
  const one = coalesce<Wanted, ResolvedPerson | null>(
    async (wanted) => {
      const sets = new Map<string, Promise<ReadonlyMap<string, FoundPerson>>>()
      for (const { organizationId } of wanted) {
        if (sets.has(organizationId)) continue
        const ids = wanted.flatMap((each) => (each.organizationId === organizationId ? each.id : []))
        sets.set(organizationId, ask(organizationId, [...new Set(ids)]))
      }
      // Each caller waits only for its own organization, and sees only the faults of its own person.
      return wanted.map(async ({ organizationId, id }) => {
        const found = (await sets.get(organizationId))?.get(id) ?? null
        if (isNotifierError(found)) throw found
        return found
      })
    },
    { maxWeight: MOST_IDS },
  )

  /** @param ids different ones, at most {@link MOST_IDS} */
  async function ask(
    organizationId: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, FoundPerson>> {
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
    const found = soundPeople(people, ids)
    tellWrong([...found.values()].filter(isNotifierError))
    return found
  }

  /** One report per look-up, however many are wrong. */
  function tellWrong([first, ...others]: readonly NotifierError[]): void {
    if (first === undefined) return
    const more = others.length === 0 ? '' : ` So are the answers about ${others.length} others.`
    onError(new Error(`${first.message}${more} See \`cause\`.`, { cause: first.cause }))
  }

  const tellLeftOut = throttled<string>(
    (what, more) =>
      onError(new Error(more === 0 ? what : `${what} So were ${more} more since the last report.`)),
    () => clock.monotonic(),
  )

  return {
    one: (organizationId, id) => one({ organizationId, id }),
    async many(organizationId, ids) {
      const different = [...new Set(ids)]
      const found = new Map<string, FoundPerson>()
      for (let at = 0; at < different.length; at += MOST_IDS) {
        // A resolver that answers at once would hold the loop for all of them.
        if (at > 0) await nextTurn()
        for (const [id, person] of await ask(organizationId, different.slice(at, at + MOST_IDS)))
          found.set(id, person)
      }
      return found
    },
    leftOut(id, { code }) {
      tellLeftOut(`An address of the recipient "${id}" was left out (${code}); others were used.`)
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

function soundPeople(people: unknown, ids: readonly string[]): ReadonlyMap<string, FoundPerson> {
  if (typeof people !== 'object' || people === null || Array.isArray(people))
    throw wrong('must answer a Map or an object of people by id')
  const found = new Map<string, FoundPerson>()
  for (const id of ids) {
    try {
      const person: unknown =
        people instanceof Map ? people.get(id) : Object.hasOwn(people, id) ? Reflect.get(people, id) : null
      if (person !== null && person !== undefined) found.set(id, soundPerson(person))
    } catch (cause) {
      found.set(id, invalidPerson(id, cause))
    }
  }
  return found
}

/** One rule: data that decides the address must be valid; an invalid locale or time zone is ignored. */
function soundPerson(person: object): ResolvedPerson {
  const { channels, locale, timeZone } = person as Record<string, unknown>
  if (typeof channels !== 'object' || channels === null || Array.isArray(channels))
    throw wrong('must answer people with an object "channels"')
  const sound: Record<string, readonly string[]> = Object.create(null)
  for (const [channel, given] of Object.entries(channels)) {
    const addresses: readonly unknown[] = (Array.isArray(given) ? given : [given]).filter(isPresent)
    if (addresses.length > MOST_ADDRESSES)
      throw wrong(`must answer at most ${MOST_ADDRESSES} addresses per channel, also for ${channel}`)
    if (!addresses.every((address) => typeof address === 'string'))
      throw wrong(`must answer a text or a list of texts per channel, also for ${channel}`)
    sound[channel] = addresses
  }
  return { channels: sound, ...textOf('locale', locale), ...textOf('timeZone', timeZone) }
}

/** Databases hold all of these for "none". */
function isPresent(address: unknown): boolean {
  return address !== undefined && address !== null && address !== ''
}

function textOf(name: 'locale' | 'timeZone', value: unknown): { readonly [Name in typeof name]?: string } {
  return typeof value === 'string' && value !== '' && value.length <= MOST_TEXT ? { [name]: value } : {}
}

/** The sender may be a tenant: what is wrong is in the cause, for the operator. */
function invalidPerson(id: string, cause: unknown): NotifierError {
  return new NotifierError('invalid_person', {
    message: `The data of the recipient "${id}" is wrong.`,
    details: { field: 'recipient', recipient: id },
    cause,
  })
}

function wrong(rule: string): NotifierError {
  return invalidOption('recipients.resolve', `The option "recipients.resolve" ${rule}.`)
}
