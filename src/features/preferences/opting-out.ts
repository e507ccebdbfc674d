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

/** See `OptOuts`. Returns the changed cells of each record, in the order of {@link ownersOf}. */
export async function optOut(
  { categories, book, hashes }: Consent,
  target: LinkTarget,
): Promise<readonly (readonly ChangedCell[])[]> {
  const { organizationId, channel } = target
  const category = await categories.find(organizationId, target.category)
  let changed = NO_PREFERENCES
  const decide: Decide = (before, now) => {
    changed = before
    return category === null
      ? withoutAll(before, channel, now)
      : withoutCategory(before, category.id, channel, now)
  }
  const changes: (readonly ChangedCell[])[] = []
  for (const owner of ownersOf(target, hashes)) {
    const stored = await book.update(owner, 'any', decide)
    changes.push(changesBetween(changed, preferencesIn(stored)))
  }
  return changes
}

/**
 * Restores the cells that {@link optOut} has changed, except those that have changed since.
 *
 * @returns whether all of them are as before
 * @throws as {@link optOut}
 */
export async function undoOptOut(
  { book, hashes }: Consent,
  target: LinkTarget,
  changes: readonly (readonly ChangedCell[])[],
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

/** Turns off everything that is optional, on all channels of a person. @throws as {@link optOut} */
export async function optOutOfAll({ book, hashes }: Consent, target: LinkTarget): Promise<void> {
  for (const owner of ownersOf(target, hashes)) {
    const channel = owner.by === 'address' ? target.channel : ALL
    await book.update(owner, 'any', (before, now) => withoutAll(before, channel, now))
  }
}
