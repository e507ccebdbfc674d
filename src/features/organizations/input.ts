import * as z from 'zod'
import { canonicalSender, MAX_SENDERS, SENDER } from '../../core/channels/senders.ts'
import { isCallingCode } from '../../core/channels/sms-countries.ts'
import { nameText, text } from '../../core/input/fields.ts'
import { httpsUrl } from '../../core/input/https-url.ts'
import { localeName, timeZoneName } from '../../core/input/locale-fields.ts'
import type { Tracking } from '../../core/links/tracking.ts'
import { namedInput } from '../../core/rest/named.ts'
import { ORGANIZATION_ID, ORGANIZATION_ID_FORM } from '../../core/tenancy/organization.ts'

/** Input for a new organization. */
export interface OrganizationInput {
  /** `org_` and 1 to 60 letters, digits, hyphens or underscores. Default: random. */
  readonly id?: string | undefined
  /** 1 to 200 characters. */
  readonly name: string
  /** Name of a plan of the option `plans`. Default: `free`. */
  readonly plan?: string | null | undefined
  /**
   * Permitted calling codes of text messages, such as `+49`; with an area code for a part of `+1` (`+1876`). Others are
   * refused with `region_not_permitted`. Default null: all.
   */
  readonly smsCountries?: readonly string[] | null | undefined
  /**
   * Addresses (`news@example.com`) and domains (`example.com`: every address there) that `email.from` of its mails may name;
   * at most 1,000. Others are refused with `invalid_sender`. A mail without `email.from` comes from the provider's sender.
   * Default null: as the providers allow.
   */
  readonly senders?: readonly string[] | null | undefined
  /**
   * How many days its data is kept, by kind. A change keeps absent fields; null clears one, or all. Default: as in its
   * plan, which defaults to the option `retention`.
   */
  readonly retention?: RetentionInput | null | undefined
  /** The locale of its messages, as BCP 47: `de`, `fr-BE`. Default null: that of the service. */
  readonly locale?: string | null | undefined
  /** The IANA time zone of dates in its messages. Default null: that of the service. */
  readonly timeZone?: string | null | undefined
  /**
   * How it appears in its messages (`{{organization.name}}`) and on its pages. A change keeps absent fields; null clears
   * one, or all. Default: its name, without logo and colour.
   */
  readonly branding?: BrandingInput | null | undefined
  /**
   * Tracking of HTML mails: a picture (`opens`), and links through `publicUrl` (`clicks`), which it requires. Default:
   * off.
   */
  readonly tracking?:
    | { readonly opens?: boolean | undefined; readonly clicks?: boolean | undefined }
    | null
    | undefined
}

/** How many days an organization keeps each kind of its data: 1 to 36 500. */
export interface RetentionInput {
  /** Texts, variables and files of ended notifications, which may end before them. Null: as in its plan. */
  readonly contentDays?: number | null | undefined
  /** Ended notifications with their log and webhook deliveries. Null: as in its plan. */
  readonly logDays?: number | null | undefined
}

/** The appearance of an organization to its recipients. */
export interface BrandingInput {
  /** One line of 1 to 200 characters, not all blank. Null: the name of the organization. */
  readonly name?: string | null | undefined
  /** An https URL of at most 2,048 characters, stored in its normal form (`new URL(…).href`). Mail programs and browsers load it; the service does not. */
  readonly logoUrl?: string | null | undefined
  /** `#rrggbb`: the only form that every mail program reads. */
  readonly color?: string | null | undefined
}

const name = text(1, 200)
const plan = text(1, 60).nullish().describe('Name of a plan of the service; null or absent: `free`.')
const smsCountries = z
  .array(z.string().refine(isCallingCode, 'must be a calling code such as +49'))
  .max(300)
  .nullish()
  .describe('Permitted calling codes of text messages, such as `+49` or `+1876`; null: all.')

const senders = z
  .array(
    z
      .string()
      .max(320)
      .refine((entry) => canonicalSender(entry) !== null, SENDER)
      .transform((entry) => canonicalSender(entry) ?? entry),
  )
  .max(MAX_SENDERS)
  .nullish()
  .describe(
    'Addresses and domains (`example.com`: every address there) that `email.from` of its mails may name; null: as the providers allow.',
  )

const days = z.int().min(1).max(36_500).nullish()
const retention = z
  .strictObject({
    contentDays: days.describe('Texts, variables and files of ended notifications; null: as in its plan.'),
    logDays: days.describe(
      'Ended notifications with their log and webhook deliveries; null: as in its plan.',
    ),
  })
  .nullish()
  .describe(
    'How many days each kind of its data is kept. A change keeps absent fields; null clears one, or all.',
  )

const locale = localeName
  .nullish()
  .describe('The locale of its messages, such as `de`; null: that of the service.')
const timeZone = timeZoneName
  .nullish()
  .describe('The time zone of dates in its messages; null: that of the service.')

const branding = z
  .strictObject({
    name: nameText(200)
      .refine((name) => name.trim() !== '', 'must not be blank')
      .nullish(),
    logoUrl: httpsUrl
      .refine(hasPlainHost, 'must have a host of letters, digits, hyphens and dots')
      .transform((url) => (URL.canParse(url) ? new URL(url).href : url))
      .refine((url) => url.length <= 2_048, 'must be at most 2048 characters long when encoded')
      .nullish(),
    color: z
      .string()
      .regex(
        /^#[0-9a-f]{6}$/i,
        'must be a colour as #rrggbb, which every mail program reads: not a name, #rgb or rgb()',
      )
      .transform((color) => color.toLowerCase())
      .nullish(),
  })
  .nullish()
  .describe('Name, logo and colour for recipients. A change keeps absent fields; null clears one, or all.')

/** Pages name the host in a header. */
function hasPlainHost(url: string): boolean {
  return URL.canParse(url) && /^[a-z0-9.-]+$/.test(new URL(url).hostname)
}

const tracking = z
  .strictObject({ opens: z.boolean().optional(), clicks: z.boolean().optional() })
  .nullish()
  .describe('Tracking of HTML mails; absent settings are off.')

/** Applies the defaults. */
export function trackingOf(given: OrganizationInput['tracking']): Tracking {
  return { opens: given?.opens === true, clicks: given?.clicks === true }
}

/** The schema of {@link OrganizationInput}. */
export const organizationInput: z.ZodType<OrganizationInput, OrganizationInput> = namedInput(
  'OrganizationRequest',
  z.object({
    id: z.string().regex(ORGANIZATION_ID, `must be ${ORGANIZATION_ID_FORM}`).optional(),
    name,
    plan,
    smsCountries,
    senders,
    retention,
    locale,
    timeZone,
    branding,
    tracking,
  }),
)

/** Changes of an organization; absent fields stay. */
export type OrganizationChange = {
  readonly [Field in Exclude<keyof OrganizationInput, 'id'>]?: OrganizationInput[Field] | undefined
}

/** The schema of {@link OrganizationChange}. */
export const organizationChange: z.ZodType<OrganizationChange> = namedInput(
  'OrganizationChange',
  z.object({
    name: name.optional(),
    plan,
    smsCountries,
    senders,
    retention,
    locale,
    timeZone,
    branding,
    tracking,
  }),
)
