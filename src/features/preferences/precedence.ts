import type { DecidedBy, Verdict } from '../../core/accept/verdict.ts'
import type { Category } from '../../core/notification/category.ts'
import { ALL, cellFor } from '../../core/notification/cells.ts'
import type { SuppressionReason } from '../../core/notification/suppression.ts'
import { type ChosenAt, categoryCell, categoryChosenAt, channelChosenAt, type Preferences } from './model.ts'

/** Everything that decides whether a message may be sent. */
export interface VerdictInput {
  readonly channel: string
  readonly category: Pick<Category, 'id' | 'formerIds' | 'required' | 'default'>
  /** The suppression of the address. Null: none. */
  readonly suppression: SuppressionReason | null
  /** What the person wants, stored by recipient id and by address. */
  readonly person: readonly Preferences[]
  /** Null: no preferences of the organization. */
  readonly organization: Preferences | null
}

const GO: Verdict = Object.freeze({ kind: 'go' })
const OFF: Verdict = Object.freeze({ kind: 'skip', decidedBy: 'category_default' })

const REASONS: Readonly<Record<DecidedBy, (category: string, channel: string) => string>> = {
  recipient_category_channel: (category, channel) =>
    `The recipient has turned off the category "${category}" on ${channel}.`,
  recipient_category: (category) => `The recipient has turned off the category "${category}".`,
  recipient_channel: (_category, channel) => `The recipient has turned off ${channel}.`,
  organization: (category, channel) =>
    `The organization has turned off the category "${category}" on ${channel} for recipients without a choice.`,
  category_default: (category, channel) =>
    `The category "${category}" is off on ${channel} until the recipient turns it on.`,
}

/** Why a message was skipped, for people. */
export function skipReason(decidedBy: DecidedBy, category: string, channel: string): string {
  return REASONS[decidedBy](category, channel)
}

interface Level {
  readonly decidedBy: DecidedBy
  /** Undefined: no choice. */
  readonly votes: readonly (boolean | undefined)[]
  /** True: it is about the category, so that its "on" overrides a category that is off by default. */
  readonly optsIn: boolean
}

/**
 * Decides whether a message may be sent. The first level with an answer decides:
 *
 * 1. hard bounce, complaint, STOP, suppressed by hand: blocked;
 * 2. a required category: sent;
 * 3. an address that has unsubscribed from everything: blocked;
 * 4. the person's category × channel;
 * 5. the person's category on all channels;
 * 6. the person's channel;
 * 7. the organization, in the same three steps;
 * 8. the default of the category.
 *
 * Of a person's two records, the later choice about a category counts, and of each channel. If that is unknown, "off" wins on
 * each level. An "on" for a channel alone never overrides a category that is off by default.
 */
export function decide(input: VerdictInput): Verdict {
  const { suppression, category, channel } = input
  if (suppression !== null && suppression !== 'unsubscribe') return { kind: 'blocked', reason: suppression }
  if (category.required) return GO
  if (suppression !== null) return { kind: 'blocked', reason: suppression }
  return decideByPreferences(input, cellFor(category.default, channel) !== false)
}

/** @param isOn the default of the category */
function decideByPreferences(input: VerdictInput, isOn: boolean): Verdict {
  if (input.person.length === 0 && input.organization === null) return isOn ? GO : OFF
  for (const { decidedBy, votes, optsIn } of levelsOf(input)) {
    if (votes.includes(false)) return { kind: 'skip', decidedBy }
    if (votes.includes(true) && (optsIn || isOn)) return GO
  }
  return isOn ? GO : OFF
}

function* levelsOf({ channel, category, person, organization }: VerdictInput): Generator<Level> {
  const inCategory = (key: string) => (of: Preferences) => categoryCell(of, category, key)
  const onChannel = ({ channels }: Preferences) => cellFor(channels, channel)
  const ofCategory = latest(person, (of) => categoryChosenAt(of, category, channel))
  const ofChannel = latest(person, (of) => channelChosenAt(of, channel))
  yield { decidedBy: 'recipient_category_channel', votes: ofCategory.map(inCategory(channel)), optsIn: true }
  yield { decidedBy: 'recipient_category', votes: ofCategory.map(inCategory(ALL)), optsIn: true }
  yield { decidedBy: 'recipient_channel', votes: ofChannel.map(onChannel), optsIn: false }
  if (organization === null) return
  const decidedBy = 'organization'
  yield { decidedBy, votes: [inCategory(channel)(organization)], optsIn: true }
  yield { decidedBy, votes: [inCategory(ALL)(organization)], optsIn: true }
  yield { decidedBy, votes: [onChannel(organization)], optsIn: false }
}

/** The records whose choice is not older than that of another one. */
function latest(
  person: readonly Preferences[],
  chosenAt: (preferences: Preferences) => ChosenAt,
): readonly Preferences[] {
  if (person.length < 2) return person
  const last = Math.max(...person.map((of) => chosenAt(of) ?? 0))
  return person.filter((of) => (chosenAt(of) ?? last) === last)
}
