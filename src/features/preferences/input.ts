import * as z from 'zod'
import { MAX_RECIPIENT_LENGTH } from '../../core/channels/channel-kind.ts'
import { expectedValue } from '../../core/input/expected-value.ts'
import { channel, fewFields, text } from '../../core/input/fields.ts'
import { withPlaces } from '../../core/input/known-fields.ts'
import { categoryId } from '../../core/notification/category-id.ts'
import { MAX_RECIPIENT_ID } from '../../core/notification/labels.ts'
import { type QuietHours, quietHours } from '../../core/notification/quiet-hours.ts'
import { namedInput } from '../../core/rest/named.ts'
import { channelOrAll } from '../categories/index.ts'

/**
 * Whose preferences: of a person, by the application's id or by an address on a channel; or `{ organization: true }`, the
 * organization's own for all its people.
 */
export type PreferencesOf =
  | {
      /** The application's id of a person, as `recipient` in a send. */
      readonly recipient: string
      readonly channel?: undefined
      readonly to?: undefined
      readonly organization?: undefined
    }
  | {
      readonly channel: string
      /** An address, as `to` in a send. */
      readonly to: string
      readonly recipient?: undefined
      readonly organization?: undefined
    }
  | {
      readonly organization: true
      readonly recipient?: undefined
      readonly channel?: undefined
      readonly to?: undefined
    }

/** Cells to change: true is on, false off; null clears. The channel `*` means all that have no cell. */
export type CellsInput = { readonly [channel: string]: boolean | null }

/** New values of preferences. Everything that is not named stays. */
export interface PreferencesInput {
  /** By channel. */
  readonly channels?: CellsInput | undefined
  /**
   * By id of the category. `true` or `false` replaces all cells of the category, null clears them, and an object changes
   * single channels.
   */
  readonly categories?: { readonly [category: string]: boolean | null | CellsInput } | undefined
  /** When messages wait. `false` means never, whatever the organization or the category has; null clears the choice. */
  readonly quietHours?: QuietHours | false | null | undefined
}

/** The application's id of a person. */
const recipientId = text(1, MAX_RECIPIENT_ID)

export const preferencesOf: z.ZodType<PreferencesOf> = z
  .object({
    recipient: recipientId.optional(),
    channel: channel.optional(),
    to: text(1, MAX_RECIPIENT_LENGTH).optional(),
    organization: z.literal(true).optional(),
  })
  .check(({ value, issues }) => {
    const { recipient, organization, to } = value
    const byAddress = value.channel !== undefined || to !== undefined
    const ways = [recipient !== undefined, organization === true, byAddress].filter(Boolean).length
    const fault = (path: readonly string[], message: string) =>
      issues.push({ code: 'custom', input: value, path: [...path], message })
    if (ways === 0) fault([], 'must name a person: by "recipient", or by "channel" and "to"')
    if (ways > 1) fault([], 'must name one person: by "recipient", or by "channel" and "to"')
    if (ways === 1 && byAddress && value.channel === undefined) fault(['channel'], 'must be given')
    if (ways === 1 && byAddress && to === undefined) fault(['to'], 'must be given')
  }) as unknown as z.ZodType<PreferencesOf>

const MOST_CELLS = 64
const MOST_ENTRIES = 400

const wish = z.union([z.boolean(), z.null()], 'must be true, false or null')
const cells = fewFields(MOST_CELLS, `must have at most ${MOST_CELLS} channels`, z.record(channelOrAll, wish))

const URL_PLACE = 'over HTTP it belongs in the URL'
const IN_URL = { recipient: URL_PLACE, channel: URL_PLACE, to: URL_PLACE }

// A union would not say which field is wrong.
const wantedQuiet = z.preprocess(
  (given, { issues }) => {
    if (typeof given !== 'object' || given === null) return given
    const { success, data, error } = quietHours.safeParse(given, { error: expectedValue })
    if (success) return data
    issues.push(...error.issues.map((issue) => ({ ...issue, input: given }) as z.core.$ZodRawIssue))
    return z.NEVER
  },
  z.union([z.literal(false), z.null(), quietHours], 'must be quiet hours, false or null'),
) as unknown as z.ZodType<QuietHours | false | null, QuietHours | false | null>

/** The schema behind `notifier.preferences.change` and `replace`, and the REST API. */
export const preferencesInput: z.ZodType<PreferencesInput, PreferencesInput> = namedInput(
  'PreferencesRequest',
  withPlaces(
    z.strictObject({
      channels: cells
        .optional()
        .describe('On (`true`) or off (`false`) by channel; `*` stands for all others; `null` clears.'),
      categories: fewFields(
        MOST_ENTRIES,
        `must have at most ${MOST_ENTRIES} categories`,
        z.record(
          categoryId,
          z.union([z.boolean(), z.null(), cells], 'must be true, false, null or an object of channels'),
        ),
      )
        .optional()
        .describe(
          'By id of the category: `true` or `false` for all channels, `null` to clear, or an object by channel.',
        ),
      quietHours: wantedQuiet
        .optional()
        .describe('When messages wait. `false`: never, whatever the next level has; `null` clears.'),
    }),
    IN_URL,
  ),
)
