import type { LinkTarget } from '../../core/links/link-target.ts'
import { ALL } from '../../core/notification/cells.ts'
import type { PersonHashes } from '../../core/people/person-hashes.ts'
import type { Decide } from './book.ts'
import type { Consent } from './consent.ts'
import { withoutAll, withoutCategory } from './model.ts'
import { ownerByAddress, ownerByRecipient, type PreferenceOwner } from './records.ts'

/** The records of the person that a link is for: by address, and by recipient id if it is known. */
export function ownersOf(
  { organizationId, channel, address, recipient }: LinkTarget,
  hashes: Pick<PersonHashes, 'recipient'>,
): readonly PreferenceOwner[] {
  const byAddress = ownerByAddress(organizationId, channel, address)
  return recipient === null ? [byAddress] : [byAddress, ownerByRecipient(hashes, organizationId, recipient)]
}

/** See `OptOuts`. */
export async function optOut({ categories, book, hashes }: Consent, target: LinkTarget): Promise<void> {
  const { organizationId, channel } = target
  const category = await categories.find(organizationId, target.category)
  const decide: Decide = (before, now) =>
    category === null ? withoutAll(before, channel, now) : withoutCategory(before, category.id, channel, now)
  for (const owner of ownersOf(target, hashes)) await book.update(owner, 'any', decide)
}

/** Turns off everything that is optional, on all channels of a person. @throws as {@link optOut} */
export async function optOutOfAll({ book, hashes }: Consent, target: LinkTarget): Promise<void> {
  for (const owner of ownersOf(target, hashes)) {
    const channel = owner.by === 'address' ? target.channel : ALL
    await book.update(owner, 'any', (before, now) => withoutAll(before, channel, now))
  }
}
