import type { LinkTarget } from '../../core/links/link-target.ts'
import { ALL } from '../../core/notification/cells.ts'
import type { PersonHashes } from '../../core/people/person-hashes.ts'
import type { Decide } from './book.ts'
import type { Consent } from './consent.ts'
import { NO_PREFERENCES, withoutAll, withoutCategory } from './model.ts'
import { ownerByAddress, ownerByRecipient, type PreferenceOwner, preferencesIn } from './records.ts'
import { type ChangedCell, changesBetween, isUndone, undone } from './undo.ts'

/** The records of the person that a link is for: by address, and by recipient id if it is known. */
export function ownersOf(
  { organizationId, channel, address, recipient }: LinkTarget,
  hashes: Pick<PersonHashes, 'recipient'>,
): readonly PreferenceOwner[] {
  const byAddress = ownerByAddress(organizationId, channel, address)
  return recipient === null ? [byAddress] : [byAddress, ownerByRecipient(hashes, organizationId, recipient)]
}

/** The changed cells of each record, in the order of {@link ownersOf}. */
export type Changes = readonly (readonly ChangedCell[])[]

async function decided(
  { book, hashes }: Consent,
  target: LinkTarget,
  decide: (owner: PreferenceOwner, ...record: Parameters<Decide>) => ReturnType<Decide>,
): Promise<Changes> {
  const changes: (readonly ChangedCell[])[] = []
  for (const owner of ownersOf(target, hashes)) {
    let changed = NO_PREFERENCES
    const stored = await book.update(owner, 'any', (before, now) => {
      changed = before
      return decide(owner, before, now)
    })
    changes.push(changesBetween(changed, preferencesIn(stored)))
  }
  return changes
}

/** See `OptOuts`. */
export async function optOut(consent: Consent, target: LinkTarget): Promise<Changes> {
  const { organizationId, channel } = target
  const category = await consent.categories.find(organizationId, target.category)
  return decided(consent, target, (_, before, now) =>
    category === null ? withoutAll(before, channel, now) : withoutCategory(before, category.id, channel, now),
  )
}

/** Turns off everything that is optional, on all channels of a person. @throws as {@link optOut} */
export async function optOutOfAll(consent: Consent, target: LinkTarget): Promise<Changes> {
  return decided(consent, target, ({ by }, before, now) =>
    withoutAll(before, by === 'address' ? target.channel : ALL, now),
  )
}

/**
 * Restores the cells that {@link optOut} or {@link optOutOfAll} has changed, except those that have changed since.
 *
 * @returns whether all of them are as before
 * @throws as {@link optOut}
 */
export async function undoOptOut(
  { book, hashes }: Consent,
  target: LinkTarget,
  changes: Changes,
): Promise<boolean> {
  let isWhole = true
  for (const [index, owner] of ownersOf(target, hashes).entries()) {
    const own = changes[index] ?? []
    if (own.length === 0) continue
    const stored = await book.update(owner, 'any', (before) => undone(before, own))
    isWhole &&= isUndone(preferencesIn(stored), own)
  }
  return isWhole
}
