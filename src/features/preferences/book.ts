import { isDeepStrictEqual } from 'node:util'
import type { RecordWrite, StoredRecord } from '../../core/ports/storage/records.ts'
import type { RecordStores } from '../../core/records/record-stores.ts'
import type { Delays } from '../delays/index.ts'
import type { PreferencesInUse } from './in-use.ts'
import { NO_PREFERENCES, type Preferences, quietChosenAt } from './model.ts'
import {
  AT_CREATION,
  type PreferenceOwner,
  type PreferenceValue,
  preferenceKind,
  preferencesIn,
} from './records.ts'

export type Decide = (before: Preferences, now: number) => Preferences

/** Stored preferences. */
export interface PreferenceBook {
  /** In order, in one query. Null: none. */
  read(owners: readonly PreferenceOwner[]): Promise<(StoredRecord<PreferenceValue> | null)[]>
  /**
   * Changes preferences. Concurrent changes follow each other, so that none is lost. If quiet hours change, messages that they
   * delay are judged again: those of a person before it resolves.
   *
   * @param decide returns the new preferences of the current ones; called again after a concurrent change. Receives the time for
   *   what is chosen now
   * @param room `any`: stored even if the budget of the organization is used up
   * @param also written in the same commit
   * @throws NotifierError `not_found` if the organization does not exist; `storage_quota_exceeded`
   */
  update(
    owner: PreferenceOwner,
    room: 'any' | 'budget',
    decide: Decide,
    also?: Also,
  ): Promise<StoredRecord<PreferenceValue>>
}

/** Other writes of the commit. */
export type Also = (before: Preferences, after: Preferences) => readonly RecordWrite[]

/** The choice of quiet hours: with its time, by which the later one of two records counts. */
const quietOf = (preferences: Preferences): readonly unknown[] => [
  preferences.quietHours,
  quietChosenAt(preferences),
]

export function createPreferenceBook(
  stores: RecordStores,
  inUse: PreferencesInUse,
  delays: Delays,
): PreferenceBook {
  const budgeted = stores.of(preferenceKind)
  const always = stores.always(preferenceKind)

  async function insert(
    into: typeof budgeted,
    { organizationId, id, by }: PreferenceOwner,
    decide: Decide,
    also: Also,
  ): Promise<StoredRecord<PreferenceValue> | 'taken'> {
    const value = { ...decide(NO_PREFERENCES, AT_CREATION), by, updatedAt: null }
    return into.insert({ id, organizationId, value }, also(NO_PREFERENCES, value))
  }

  /** @param also what is written with a change */
  async function store(
    { room, owner, decide }: { room: 'any' | 'budget'; owner: PreferenceOwner; decide: Decide },
    also: Also,
  ): Promise<StoredRecord<PreferenceValue>> {
    const into = room === 'any' ? always : budgeted
    for (;;) {
      const changed = await into.change(
        owner.id,
        (record) => {
          const { readAt } = record
          return { by: owner.by, ...decide(preferencesIn(record), readAt), updatedAt: readAt }
        },
        (value, before) => also(preferencesIn(before), value),
      )
      if (typeof changed !== 'string') return changed
      const inserted = await insert(into, owner, decide, also)
      if (inserted !== 'taken') return inserted
    }
  }

  return {
    read: (owners) => budgeted.findAll(owners.map(({ id }) => ({ id }))),
    async update(owner, room, decide, also = () => []) {
      const { organizationId, messages } = owner
      // First, so that every later message is checked against preferences.
      inUse.mark(organizationId)
      let isOther = false
      const stored = await store({ room, owner, decide }, (before, after) => {
        isOther = !isDeepStrictEqual(quietOf(before), quietOf(after))
        const others = also(before, after)
        return isOther ? [...others, delays.changed(organizationId, messages)] : others
      })
      if (isOther && owner.by !== 'organization') await delays.judgeAgain(organizationId, messages)
      return stored
    },
  }
}
