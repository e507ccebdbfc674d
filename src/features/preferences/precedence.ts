import type { Category } from '../../core/notification/category.ts'
import { ALL, cellFor } from '../../core/notification/cells.ts'
import type { QuietHours } from '../../core/notification/quiet-hours.ts'
import {
  type ChosenAt,
  categoryCell,
  categoryChosenAt,
  channelChosenAt,
  type Preferences,
  quietChosenAt,
} from './model.ts'

/** The settings that can turn a message off, the strongest first. */
export type DecidedBy =
  | 'recipient_category_channel'
  | 'recipient_category'
  | 'recipient_channel'
  | 'organization'
  | 'category_default'

/** Everything that decides whether a message is wanted. */
export interface DecisionInput {
  readonly channel: string
  readonly category: Pick<Category, 'id' | 'formerIds' | 'required' | 'default' | 'quietHours'>
  /** What the person wants, stored by recipient id and by address. */
  readonly person: readonly Preferences[]
  /** Null: no preferences of the organization. */
  readonly organization: Preferences | null
}

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
 * What turned a message off. Null: it is wanted. The first level with an answer decides:
 *
 * 1. a required category: wanted;
 * 2. the person's category × channel;
 * 3. the person's category on all channels;
 * 4. the person's channel;
 * 5. the organization, in the same three steps;
 * 6. the default of the category.
 *
 * Of a person's two records, the later choice about a category counts, and of each channel. If that is unknown, "off" wins on
 * each level. An "on" for a channel alone never overrides a category that is off by default.
 */
export function decide(input: DecisionInput): DecidedBy | null {
  const { category, channel, person, organization } = input
  if (category.required) return null
  const isOn = cellFor(category.default, channel) !== false
  const byDefault = isOn ? null : 'category_default'
  if (person.length === 0 && organization === null) return byDefault
  for (const { decidedBy, votes, optsIn } of levelsOf(input)) {
    if (votes.includes(false)) return decidedBy
    if (votes.includes(true) && (optsIn || isOn)) return null
  }
  return byDefault
}

function* levelsOf({ channel, category, person, organization }: DecisionInput): Generator<Level> {
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

/**
 * The quiet hours that apply to a message. The first level that has some, or none by choice, decides: the person, the
 * organization, the category. Of a person's two records the later choice counts; if that is unknown, quiet hours win, and
 * those of both apply.
 */
export function quietHoursOf({
  category,
  person,
  organization,
}: Omit<DecisionInput, 'channel'>): readonly QuietHours[] {
  if (category.required) return NEVER
  const chosen = chosenQuietHours(person)
  const next = organization?.quietHours ?? category.quietHours ?? false
  return (chosen.length > 0 ? chosen : [next]).filter((wish) => wish !== false)
}

/** The last choice about quiet hours of a person, by either record. Several if it is unknown which is later. */
export function chosenQuietHours(person: readonly Preferences[]): readonly (QuietHours | false)[] {
  return latest(person, quietChosenAt).flatMap(({ quietHours }) => quietHours ?? [])
}

const NEVER: readonly QuietHours[] = Object.freeze([])

/** The records whose choice is not older than that of another one. */
function latest(
  person: readonly Preferences[],
  chosenAt: (preferences: Preferences) => ChosenAt,
): readonly Preferences[] {
  if (person.length < 2) return person
  const last = Math.max(...person.map((of) => chosenAt(of) ?? 0))
  return person.filter((of) => (chosenAt(of) ?? last) === last)
}
