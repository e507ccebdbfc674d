import * as z from 'zod'
import { CHANNEL_NAME } from '../../core/channels/channel-kind.ts'
import { parseMailbox } from '../../core/channels/mailbox.ts'
import { descriptionText, fewFields, nameText, text } from '../../core/input/fields.ts'
import { type Category, MOST_CATEGORIES } from '../../core/notification/category.ts'
import { CATEGORY_ID_FORM, categoryId } from '../../core/notification/category-id.ts'
import { ALL, longCells } from '../../core/notification/cells.ts'
import { type QuietHours, quietHours } from '../../core/notification/quiet-hours.ts'
import { namedInput } from '../../core/rest/named.ts'

/** On or off, for all channels or by channel; `*` means all channels that are not named. */
export type CategoryDefault = boolean | { readonly [channel: string]: boolean }

/** Settings of a category. */
export interface CategorySettings {
  /** For people; 1 to 100 characters. */
  readonly name: string
  /** For people; at most 500 characters. */
  readonly description?: string | null | undefined
  /**
   * True: its messages are sent regardless of preferences, but never despite a bounce, a complaint or a STOP. For
   * receipts, security codes and what the law requires. Contradicts a `default` that is off. Default false.
   */
  readonly required?: boolean | undefined
  /** Whether people without a preference get its messages. Channels that are not named are on. Default true. */
  readonly default?: CategoryDefault | undefined
  /** Value of the header `List-Id` of its mails, such as `news.example.com`. Default: none. */
  readonly listId?: string | null | undefined
  /** Sender of its mails that name none. Default: that of the provider. */
  readonly from?: string | null | undefined
  /** Earlier ids, which still name it; at most 20. */
  readonly formerIds?: readonly string[] | undefined
  /**
   * When its messages wait, unless the person or the organization decides about quiet hours. Contradicts `required`.
   * Default: never.
   */
  readonly quietHours?: QuietHours | null | undefined
}

/** Input for a stored category. */
export interface CategoryInput extends CategorySettings {
  /** Stable: 1 to 64 lower-case letters, digits and hyphens. */
  readonly id: string
}

/** Changes of a stored category; absent fields stay. */
export type CategoryChange = {
  readonly [Field in keyof CategorySettings]?: CategorySettings[Field] | undefined
} & {
  /** The version that the change is based on. If there is a newer one, the change is refused. */
  readonly version?: number | undefined
}

const MOST_CHANNELS = 32
const MOST_FORMER_IDS = 20
/** RFC 2919, section 2, without the angle brackets. */
const LIST_ID = /^[\w-]+(?:\.[\w-]+)+$/
const MAX_LIST_ID = 255
const MAX_SENDER = 320

/** The name of a channel, or `*` for all. */
export const channelOrAll: z.ZodType<string, string> = z
  .string()
  .refine((name) => name === ALL || CHANNEL_NAME.test(name), 'must be the name of a channel, or "*" for all')

const cells = fewFields(
  MOST_CHANNELS,
  `must have at most ${MOST_CHANNELS} channels`,
  z.record(channelOrAll, z.boolean('must be true or false')),
)

const fields = {
  name: nameText(100).describe('For people.'),
  description: descriptionText(500).nullish().describe('For people.'),
  required: z
    .boolean()
    .optional()
    .describe(
      'True: its messages go whatever people prefer, but never past a bounce, a complaint or a STOP. Default `false`.',
    ),
  default: z
    .union([z.boolean(), cells])
    .optional()
    .describe(
      'Whether its messages go without a preference, for all channels or by channel. Default `true`.',
    ),
  listId: z
    .string()
    .max(MAX_LIST_ID)
    .regex(LIST_ID, 'must be labels joined by dots, such as news.example.com')
    .nullish()
    .describe('Value of the header List-Id of its mails, without angle brackets.'),
  from: text(1, MAX_SENDER)
    .refine((from) => parseMailbox(from) !== null, 'must be an address, such as News <news@example.com>')
    .nullish()
    .describe('Sender of its mails that name none.'),
  formerIds: z
    .array(categoryId)
    .max(MOST_FORMER_IDS)
    .optional()
    .describe('Earlier ids, which still name the category.'),
  quietHours: quietHours
    .nullish()
    .describe('When its messages wait, unless the person or the organization decides.'),
}

/** The schema behind `notifier.categories.create` and the REST API. */
export const categoryInput: z.ZodType<CategoryInput, CategoryInput> = namedInput(
  'CategoryRequest',
  z.object({
    id: categoryId.describe(`Stable: ${CATEGORY_ID_FORM}.`),
    ...fields,
  }),
)

/** The schema of {@link CategoryChange}. */
export const categoryChange: z.ZodType<CategoryChange, CategoryChange> = namedInput(
  'CategoryChange',
  z.object({
    ...fields,
    name: fields.name.optional(),
    version: z
      .int()
      .min(1)
      .optional()
      .describe('The version that the change is based on. Refused if there is a newer one.'),
  }),
)

/** The schema of the option `categories`. */
export const categoriesOption: z.ZodType<Readonly<Record<string, CategorySettings>>> = fewFields(
  MOST_CATEGORIES,
  `must have at most ${MOST_CATEGORIES} categories`,
  z.record(categoryId, z.strictObject(fields)),
)

/**
 * The fault of a category whose fields are valid one by one. Null: none.
 *
 * @param channels the known channels
 */
export function categoryFault(
  { id, required, default: cells, quietHours }: Category,
  channels: ReadonlyMap<string, unknown>,
): { readonly field: 'default' | 'required' | 'quietHours'; readonly message: string } | null {
  const unknown = Object.keys(cells).find((name) => name !== ALL && !channels.has(name))
  if (unknown !== undefined) {
    const known = [...channels.keys()].join(', ')
    return { field: 'default', message: `There is no channel "${unknown}" here; known: ${known}.` }
  }
  if (required && quietHours) {
    const message = `The category "${id}" is required, so its messages never wait: leave out "quietHours", or make it optional.`
    return { field: 'quietHours', message }
  }
  if (!required || !Object.values(cells).includes(false)) return null
  const message = `The category "${id}" is required, so its messages are always sent: leave out "default", or make it optional.`
  return { field: 'required', message }
}

/** A category with its defaults applied. */
export function categoryOf(id: string, settings: CategorySettings): Category {
  const {
    name,
    description = null,
    required = false,
    default: given = true,
    listId = null,
    from = null,
  } = settings
  const { formerIds = [], quietHours = null } = settings
  const all = { [ALL]: true }
  return {
    id,
    name,
    description,
    required,
    default: { ...all, ...longCells(given) },
    listId,
    from,
    formerIds: [...formerIds],
    quietHours,
  }
}
