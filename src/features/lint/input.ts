import * as z from 'zod'
import { type AnyChannel, type ChannelParts, partsFields } from '../../core/accept/input.ts'
import type { ChannelKind } from '../../core/channels/channel-kind.ts'
import type { JsonFields } from '../../core/input/json-fields.ts'
import { namedInput } from '../../core/rest/named.ts'
import {
  draft,
  type PartsOf,
  type PreviewValues,
  timeZone,
  valueFields,
} from '../../core/text/preview-input.ts'

/** How to lint a template, with the parts of its channel, such as `slack: { blocks }`, as a send takes them. */
export type LintOptions<Channels extends ChannelParts = AnyChannel> = LintFields & PartsOf<Channels>

interface LintFields {
  /**
   * Example values for the placeholders: all that the texts use, and nothing else. Default: values are not checked, and
   * lengths are those of the source.
   */
  readonly variables?: JsonFields | undefined
  /** The same as `variables`, which has precedence. */
  readonly data?: JsonFields | undefined
  /** The time zone of dates. Default: that of the organization. */
  readonly timeZone?: string | undefined
  /** True: the draft instead of the newest version. Default false. */
  readonly draft?: boolean | undefined
}

const fields = { ...valueFields, timeZone, draft }

/** A placeholder in the table of routes; each notifier adds the parts of its channels. */
export const lintBody: z.ZodType = namedInput('LintRequest', z.looseObject(fields))

/** The options of a lint, with the parts of all known channel kinds. */
export type LintInput = z.ZodType<
  Pick<LintFields, 'timeZone' | 'draft'> & PreviewValues & { readonly [parts: string]: unknown }
>

export function lintInputOf(kinds: Iterable<ChannelKind>): LintInput {
  return z.object({ ...partsFields(kinds), ...fields })
}
