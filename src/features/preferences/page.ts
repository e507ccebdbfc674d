import type { Kinds } from '../../core/channels/kinds.ts'
import { isNotifierError } from '../../core/errors/notifier-error.ts'
import type { LinkTarget } from '../../core/links/link-target.ts'
import { throttled } from '../../core/loop/throttled.ts'
import type { Category } from '../../core/notification/category.ts'
import { DEFAULT_CATEGORY } from '../../core/notification/category.ts'
import type { QuietHours } from '../../core/notification/quiet-hours.ts'
import type { SuppressionReason } from '../../core/notification/suppression.ts'
import type { PeopleFinder, ResolvedPerson } from '../../core/people/finder.ts'
import { timeZoneOf } from '../../core/people/language.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import { optingIn, suppressionId, suppressionKind } from '../suppressions/index.ts'
import type { Consent } from './consent.ts'
import { changePreferences, type PreferenceChanges, type Preferences, withCurrentIds } from './model.ts'
import { type Changes, optOutOfAll, ownersOf } from './opting-out.ts'
import { chosenQuietHours, decide } from './precedence.ts'
import type { ShownQuiet } from './quiet-view.ts'
import { ownerOrganization, preferencesIn } from './records.ts'

/** The choices of a person. */
export interface PreferencePage {
  readonly categories: readonly ShownCategory[]
  readonly quiet: ShownQuiet
}

/** The words of a category. */
export interface Topic {
  readonly id: string
  /** Null: the category `default`, which the application does not name. */
  readonly name: string | null
  readonly description: string | null
}

export interface ShownCategory extends Topic {
  readonly required: boolean
  readonly channels: readonly { readonly name: string; readonly on: boolean }[]
}

/** A posted form: the cells `category:channel` that are on, and those that the page showed as on; or nothing optional. */
export type PreferencePost =
  | {
      readonly on: ReadonlySet<string>
      readonly was: ReadonlySet<string>
      /** Undefined: as they were. Null: as preset. */
      readonly quietHours: QuietHours | false | null | undefined
    }
  | 'none'

export interface PreferencePageServices {
  readonly consent: Consent
  readonly storage: Pick<Storage, 'records' | 'notifications'>
  readonly kinds: Kinds
  /** The configured channels. */
  readonly channels: readonly string[]
  readonly clock: Clock
  /** Undefined: the application's people are not known here. */
  readonly people: PeopleFinder | undefined
  /** Receives the failures of the look-up, at most one a minute. */
  readonly onError: (error: unknown) => void
}

/** The page on which a person sees and changes preferences. */
export interface PreferencePages {
  show(target: LinkTarget): Promise<PreferencePage>
  /** Returns what can be undone: that everything is off. */
  save(target: LinkTarget, post: PreferencePost): Promise<Changes>
}

/** The data of a page. */
interface State {
  readonly categories: readonly Category[]
  readonly channels: readonly string[]
  /** Undefined: unknown. */
  readonly timeZone: string | undefined
  /** By address, and by recipient id. */
  readonly person: readonly (Preferences | null)[]
  readonly organization: Preferences | null
  /** The suppression of the link's address, as far as the address is known. */
  readonly suppression: { readonly to: string; readonly reason: SuppressionReason } | null
}

export function createPreferencePages(services: PreferencePageServices): PreferencePages {
  const { consent, storage, kinds, channels, people } = services
  const tellFault = throttled(services.onError, () => services.clock.monotonic())

  async function suppressionOf(target: LinkTarget): Promise<State['suppression']> {
    const { organizationId, channel, notificationId } = target
    const notification = await storage.notifications.get(notificationId)
    // Retention has removed the notification, and the link has no address.
    if (notification === null) return null
    const { to } = notification
    const id = suppressionId(consent.hashes, kinds.of(channel), organizationId, to)
    const [entry = null] = await storage.records.get(suppressionKind, [{ id }])
    return entry && { to, reason: entry.value.reason }
  }

  /** A link without a recipient id acts for its address alone. */
  function channelsOf({ channel, recipient }: LinkTarget): readonly string[] {
    return recipient === null ? [channel] : [...new Set([channel, ...channels])]
  }

  /** The person of a link, as far as the application tells. Null: unknown. Undefined: nobody could be asked. */
  async function personOf({
    organizationId,
    recipient,
  }: LinkTarget): Promise<ResolvedPerson | null | undefined> {
    if (people === undefined || recipient === null) return undefined
    try {
      return await people.one(organizationId, recipient)
    } catch (error) {
      // The page must still work: people unsubscribe on it.
      const isToldOf = isNotifierError(error) && error.code === 'invalid_person'
      if (!isToldOf) tellFault(error)
      return undefined
    }
  }

  /** That of the link, whose message has arrived, and those on which the person has an address, as far as that is known. */
  function shownChannels(target: LinkTarget, person: ResolvedPerson | null | undefined): readonly string[] {
    const all = channelsOf(target)
    if (person === undefined) return all
    return all.filter((each) => each === target.channel || (person?.channels[each] ?? []).length > 0)
  }

  async function stateOf(target: LinkTarget, asked: ReturnType<typeof personOf> | undefined): Promise<State> {
    const { organizationId } = target
    const owners = [ownerOrganization(organizationId), ...ownersOf(target, consent.hashes)]
    const [categories, [organization = null, ...person], suppression, found] = await Promise.all([
      consent.categories.all(organizationId),
      consent.book.read(owners),
      suppressionOf(target),
      asked,
    ])
    return {
      categories,
      channels: shownChannels(target, found),
      timeZone: timeZoneOf({}, found ?? null),
      person: person.map((record) => record && preferencesIn(record)),
      organization: organization?.value ?? null,
      suppression,
    }
  }

  return {
    async show(target) {
      const state = await stateOf(target, personOf(target))
      const { namesDefault } = consent.categories.code
      return {
        categories: state.categories.map((category) => shownOf(category, target, state, namesDefault)),
        quiet: quietOf(state),
      }
    },
    async save(target, post) {
      if (post === 'none') return optOutOfAll(consent, target)
      // Without the look-up of the person: a choice that was shown counts, and only what changed is stored.
      const state = await stateOf(target, undefined)
      await store(target, state, changedCells(target, state, post), post.quietHours)
      return []
    },
  }

  async function store(
    target: LinkTarget,
    state: State,
    cells: readonly Cell[],
    quietHours: PreferenceChanges['quietHours'],
  ): Promise<void> {
    const { organizationId, channel } = target
    const { suppression } = state
    const current = currentIdOf(state.categories)
    const optsIn = suppression !== null && cells.some((cell) => cell.on && cell.channel === channel)
    const lifting = optsIn ? optingIn(consent.hashes, kinds.of(channel), organizationId, suppression.to) : []
    for (const owner of ownersOf(target, consent.hashes)) {
      const own = cells.filter((cell) => owner.by === 'recipient' || cell.channel === channel)
      if (own.length === 0 && quietHours === undefined) continue
      const changes = { channels: {}, categories: byCategory(own), quietHours }
      await consent.book.update(
        owner,
        'any',
        (before, now) => changePreferences(withCurrentIds(before, current), changes, now),
        // A STOP can only be lifted by the person's own START.
        () => (owner.by === 'address' ? lifting.filter(({ only }) => only?.reason === 'unsubscribe') : []),
      )
    }
  }
}

interface Cell {
  readonly category: string
  readonly channel: string
  readonly on: boolean
}

/** One change for all of them, because a change reads all cells of the person. */
function byCategory(cells: readonly Cell[]): PreferenceChanges['categories'] {
  const changes = new Map<string, { readonly clear: false; readonly cells: Record<string, boolean> }>()
  for (const { category, channel, on } of cells) {
    const change = changes.get(category) ?? { clear: false, cells: {} }
    change.cells[channel] = on
    changes.set(category, change)
  }
  return changes
}

function currentIdOf(categories: readonly Category[]): (id: string) => string {
  const current = new Map(
    categories.flatMap(({ id, formerIds }) => formerIds.map((former): [string, string] => [former, id])),
  )
  return (id) => (categories.some((category) => category.id === id) ? id : (current.get(id) ?? id))
}

/** @param named the application names the category `default` */
export function topicOf({ id, name, description }: Category, named: boolean): Topic {
  return { id, name: id === DEFAULT_CATEGORY && !named ? null : name, description }
}

/** @param named as for {@link topicOf} */
function shownOf(category: Category, target: LinkTarget, state: State, named: boolean): ShownCategory {
  return {
    ...topicOf(category, named),
    required: category.required,
    channels: state.channels.map((channel) => ({
      name: channel,
      on: isOn(category, channel, target, state),
    })),
  }
}

function quietOf({ person, organization, timeZone }: State): ShownQuiet {
  const choices = chosenQuietHours(person.filter((preferences) => preferences !== null))
  const preset = organization?.quietHours ?? null
  return {
    chosen: choices.find(Boolean) ?? choices[0] ?? null,
    preset,
    zone: timeZone ?? (preset || null)?.zone ?? 'UTC',
  }
}

function isOn(category: Category, channel: string, target: LinkTarget, state: State): boolean {
  const [byAddress = null, ...others] = state.person
  const person = channel === target.channel ? [byAddress, ...others] : others
  // A bounce says nothing about what the person wants.
  const unsubscribed = channel === target.channel && state.suppression?.reason === 'unsubscribe'
  const decidedBy = decide({
    channel,
    category,
    person: person.filter((preferences) => preferences !== null),
    organization: state.organization,
  })
  return decidedBy === null && (category.required || !unsubscribed)
}

/**
 * The cells that the person changed. What was not shown, or not touched, stays undecided. For an address that had
 * unsubscribed from everything, all choices are stored, because lifting that decides them all.
 */
function changedCells(
  target: LinkTarget,
  { categories, channels, suppression }: State,
  { on, was }: Exclude<PreferencePost, 'none'>,
): readonly Cell[] {
  const all = categories
    .filter(({ required }) => !required)
    .flatMap(({ id }) => channels.map((channel) => ({ category: id, channel, name: `${id}:${channel}` })))
  const optsIn = all.some(({ name, channel }) => channel === target.channel && on.has(name))
  const decidesAll = suppression?.reason === 'unsubscribe' && optsIn
  return all
    .filter(
      ({ name, channel }) => on.has(name) !== was.has(name) || (decidesAll && channel === target.channel),
    )
    .map(({ category, channel, name }) => ({ category, channel, on: on.has(name) }))
}
