import { type Kinds, unknownChannel } from '../channels/kinds.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import { assertFormat } from './format.ts'
import { storedText } from './message-text.ts'
import type { TemplateDraft } from './preview-input.ts'
import type { Template } from './template.ts'
import { changedVariants, usesOfAll } from './variants.ts'

/** The fields of an unstored template. */
export type UnstoredText = Pick<
  TemplateDraft,
  'channel' | 'subject' | 'html' | 'text' | 'body' | 'format' | 'layout' | 'locale' | 'locales'
>

const UNSTORED = { id: '', name: '', description: null, version: 1, createdAt: 0, updatedAt: 0 }

/**
 * A template that is not stored. Its texts have been checked.
 *
 * @throws NotifierError `invalid_channel`, `invalid_parameter`, `missing_required_field`
 */
export function unstoredTemplate(kinds: Kinds, organizationId: string, given: UnstoredText): Template {
  const { channel, subject = null, layout, locale } = given
  const kind = kinds.known.get(channel)
  if (kind === undefined) throw unknownChannel(channel, kinds)
  assertFormat(kind, given)
  const text = storedText(given)
  if (text === null) throw new NotifierError('missing_required_field')
  const locales = changedVariants(kind, undefined, given.locales ?? {})
  const written = { ...UNSTORED, organizationId, channel, subject, ...text, layout, locale, locales }
  return { ...written, ...usesOfAll(written) }
}
