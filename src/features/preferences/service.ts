import { auditedChange } from '../../core/audit/audited-change.ts'
import { type Kinds, unknownChannel } from '../../core/channels/kinds.ts'
import { assertRecipient } from '../../core/channels/recipient.ts'
import { NotifierError } from '../../core/errors/notifier-error.ts'
import type { FeatureCore } from '../../core/feature.ts'
import { unknownCategory } from '../../core/notification/category-source.ts'
import { ALL, shortCells } from '../../core/notification/cells.ts'
import type { StoredRecord } from '../../core/ports/storage/records.ts'
import type { PerTenant } from '../../core/tenancy/per-tenant.ts'
import { parseSubject } from '../../core/tenancy/scope.ts'
import type { PreferencesApi } from './api.ts'
import type { Consent } from './consent.ts'
import {
  type CellsInput,
  type PreferencesInput,
  type PreferencesOf,
  preferencesInput,
  preferencesOf,
} from './input.ts'
import type { PreferencesRecord } from './model.ts'
import {
  type CellChanges,
  changePreferences,
  NO_PREFERENCES,
  type PreferenceChanges,
  type Preferences,
  withCurrentIds,
} from './model.ts'
import {
  ownerByAddress,
  ownerByRecipient,
  ownerOrganization,
  type PreferenceOwner,
  type PreferenceValue,
} from './records.ts'

/** True: it only turns off. An opt-out is stored regardless of the organization's budget. */
function isOptOut({ channels, categories, quietHours }: PreferenceChanges): boolean {
  if (quietHours) return false
  const cells = [channels, ...[...categories.values()].map((change) => change.cells)]
  return cells.flatMap((changes) => Object.values(changes)).every((on) => on === false)
}

/** One field for each cell, so that an entry of the audit log names what was changed. */
function settingsOf({ channels, categories, quietHours }: Preferences): object {
  const cells = Object.entries(channels).map(([channel, on]) => [`channels.${channel}`, on])
  const topics = Object.entries(categories).map(([id, each]) => [`categories.${id}`, each])
  return { ...Object.fromEntries([...cells, ...topics]), quietHours }
}

/** The use cases of preferences. */
export function createPreferences(
  { audit, organizations, kinds, hashes }: FeatureCore,
  { book, categories }: Consent,
): PerTenant<PreferencesApi> {
  function ownerOf(organizationId: string, of: PreferencesOf): PreferenceOwner {
    if (of.organization === true) return ownerOrganization(organizationId)
    if (of.recipient !== undefined) return ownerByRecipient(hashes, organizationId, of.recipient)
    const kind = kinds.known.get(of.channel)
    if (kind === undefined) throw unknownChannel(of.channel, kinds)
    assertRecipient(kind, of.to)
    return ownerByAddress(organizationId, of.channel, hashes.address(kind, of.to))
  }

  /** The current ids of stored categories. A category that exists no more keeps its id. */
  async function currentIds(organizationId: string): Promise<(id: string) => string> {
    const all = await categories.all(organizationId)
    const current = new Map(all.flatMap(({ id, formerIds }) => formerIds.map((former) => [former, id])))
    for (const { id } of all) current.set(id, id)
    return (id) => current.get(id) ?? id
  }

  function cellsOf(given: CellsInput, of: PreferencesOf, path: string, allowsAll: boolean): CellChanges {
    for (const key of Object.keys(given)) {
      if (key === ALL && allowsAll) continue
      if (key !== ALL && !kinds.known.has(key)) throw unknownChannelIn(path, key, kinds)
      if (of.to !== undefined && key !== of.channel) throw foreignChannel(path, key, of.channel)
    }
    return given
  }

  async function changesOf(
    organizationId: string,
    of: PreferencesOf,
    { channels = {}, categories: given = {}, quietHours }: PreferencesInput,
  ): Promise<PreferenceChanges> {
    const known = await categories.all(organizationId)
    const changes = new Map<string, { clear: boolean; cells: CellChanges }>()
    for (const [id, wish] of Object.entries(given)) {
      const field = `categories.${id}`
      const category = await categories.find(organizationId, id)
      if (category === null) throw unknownCategory(id, known, field)
      const whole = typeof wish !== 'object' || wish === null
      const cells = whole ? (wish === null ? {} : { [ALL]: wish }) : cellsOf(wish, of, field, true)
      changes.set(category.id, { clear: whole, cells })
    }
    return {
      channels: cellsOf(channels, of, 'channels', of.to === undefined),
      categories: changes,
      quietHours,
    }
  }

  async function write(
    organizationId: string,
    who: PreferencesOf,
    input: PreferencesInput,
    from: (before: Preferences) => Preferences,
  ): Promise<PreferencesRecord> {
    const of = parseSubject(preferencesOf, who)
    const parsed = parseSubject(preferencesInput, input)
    await organizations.existing(organizationId)
    const owner = ownerOf(organizationId, of)
    const changes = await changesOf(organizationId, of, parsed)
    const current = await currentIds(organizationId)
    const stored = await book.update(
      owner,
      isOptOut(changes) ? 'any' : 'budget',
      (before, now) => changePreferences(withCurrentIds(from(before), current), changes, now),
      (before, after) =>
        auditedChange(audit, {
          organizationId,
          action: 'preferences.updated',
          target: owner.auditTarget,
          before: settingsOf(before),
          after: settingsOf(after),
        }),
    )
    return view(of, stored.value, stored)
  }

  return {
    async get(organizationId, who) {
      const of = parseSubject(preferencesOf, who)
      await organizations.existing(organizationId)
      const [stored = null] = await book.read([ownerOf(organizationId, of)])
      if (stored === null) return view(of, NO_PREFERENCES, null)
      return view(of, withCurrentIds(stored.value, await currentIds(organizationId)), stored)
    },
    change: (organizationId, who, changes) => write(organizationId, who, changes, (before) => before),
    replace: (organizationId, who, preferences) =>
      write(organizationId, who, preferences, () => NO_PREFERENCES),
  }
}

function unknownChannelIn(path: string, channel: string, { known }: Kinds): NotifierError {
  return new NotifierError('invalid_channel', {
    message: `"${path}": there is no channel "${channel}" here; known: ${[...known.keys()].join(', ')}.`,
    details: { field: `${path}.${channel}` },
  })
}

function foreignChannel(path: string, channel: string, own: string): NotifierError {
  return new NotifierError('invalid_parameter', {
    message: `"${path}.${channel}": these are the preferences of an address on ${own}, so name that channel only.`,
    details: { field: `${path}.${channel}`, expected: own },
  })
}

function view(
  of: PreferencesOf,
  { channels, categories, quietHours }: Preferences,
  stored: StoredRecord<PreferenceValue> | null,
): PreferencesRecord {
  const { recipient, channel, to, organization } = of
  const updated = stored === null ? null : (stored.value.updatedAt ?? stored.createdAt)
  return {
    ...(recipient === undefined ? {} : { recipient }),
    ...(channel === undefined ? {} : { channel, to }),
    ...(organization === undefined ? {} : { organization }),
    channels,
    categories: Object.fromEntries(Object.entries(categories).map(([id, cells]) => [id, shortCells(cells)])),
    quietHours: quietHours ?? null,
    updatedAt: updated === null ? null : new Date(updated).toISOString(),
  }
}
