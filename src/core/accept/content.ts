import type { ChannelKind } from '../channels/channel-kind.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import { assertLinkable, type Links } from '../links/links.ts'
import type { NotificationContent, PinnedText } from '../notification/notification.ts'
import { withOrganization } from '../tenancy/branding.ts'
import type { BrandingFinder } from '../tenancy/plan-of.ts'
import {
  type CodeTemplate,
  type CodeTemplates,
  jsonValues,
  type WriteOptions,
} from '../text/code-templates.ts'
import type { CompiledTemplates } from '../text/compiled-templates.ts'
import { referenceOf } from '../text/kind.ts'
import { type StoredText, storedText } from '../text/message-text.ts'
import type { Template } from '../text/template.ts'
import type { SingleSend } from './input.ts'

/** Dependencies for the text of a send. */
interface TextServices {
  readonly code: CodeTemplates
  readonly compiled: CompiledTemplates
  readonly links: Links
  readonly brandingOf: BrandingFinder
}

type Values = Readonly<Record<string, unknown>>

/**
 * The text of a send as it is pinned: literal, of a stored template, or written by one in code.
 *
 * @param template the template `input.template`; null: the input names none
 * @returns a promise only for a template in code, or one that names its organization if that is in no cache
 * @throws NotifierError as `Notifier.send`
 */
export function textOf(
  kind: ChannelKind,
  input: SingleSend,
  parts: unknown,
  template: Template | null,
  services: TextServices,
  writing: WriteOptions,
): PinnedText | Promise<PinnedText> {
  const { subject, format } = input
  const overrides = {
    ...(subject === undefined ? {} : { subject }),
    ...(format === undefined ? {} : { format }),
  }
  if (template === null) return { ...overrides, ...literalOf(kind, input, parts) }
  const entry = services.code.find(input.template)
  if (template.channel !== kind.name) throw ofOtherChannel(template, kind)
  const given = { ...input.data, ...input.variables }
  if (entry === null) return ofStored(template, given, overrides, services, writing)
  return entry
    .values(given, input.sensitive === true)
    .then((values) => ofCode(entry, template, values, overrides, services, writing))
}

function ofCode(
  entry: CodeTemplate,
  template: Template,
  values: unknown,
  overrides: Overrides,
  services: TextServices,
  writing: WriteOptions,
): PinnedText | Promise<PinnedText> {
  return entry.stored
    ? ofStored(template, jsonValues(entry.name, values), overrides, services, writing)
    : entry.write(template, values, { ...writing, ...overrides })
}

type Overrides = Pick<NotificationContent, 'subject' | 'format'>

function ofStored(
  template: Template,
  variables: Values,
  overrides: Overrides,
  { compiled, links, brandingOf }: TextServices,
  { timeZone, spent }: WriteOptions,
): PinnedText | Promise<PinnedText> {
  const zone = template.made?.timeZone
  const zoned = zone === undefined ? overrides : { ...overrides, timeZone: timeZone ?? zone }
  const { given, assertVariables } = compiled.of(template)
  assertLinkable(given.links, variables, links)
  function pinned(values: Values): PinnedText {
    assertVariables(values, zoned, spent)
    return { ...zoned, template: referenceOf(template), variables: values }
  }
  const fields = given.organization
  if (fields.size === 0) return pinned(variables)
  const branding = brandingOf(template.organizationId)
  return branding instanceof Promise
    ? branding.then((found) => pinned(withOrganization(variables, found, fields)))
    : pinned(withOrganization(variables, branding, fields))
}

function literalOf(kind: ChannelKind, input: SingleSend, parts: unknown): PinnedText {
  const given = storedText(input) ?? partsAlone(kind, input, parts)
  if (given === null) throw missing('body', '"html", "text" or "body"')
  assertNoValues(input)
  const { body, format, text } = given
  return { body, ...(format === null ? {} : { format }), ...(text === null ? {} : { text }) }
}

/** The empty text of a message whose parts stand in for one; null: it needs a text. */
function partsAlone(kind: ChannelKind, input: SingleSend, parts: unknown): StoredText | null {
  const message = { subject: input.subject ?? null, body: '', parts }
  return parts !== undefined && kind.isBlank?.(message) === false
    ? { body: '', format: null, text: null }
    : null
}

/** The error of a text that shows nothing. */
export function blank(input: SingleSend, content: NotificationContent): NotifierError {
  if ('body' in content && content.template === undefined) {
    const field = input.text === undefined ? 'body' : 'text'
    return new NotifierError('invalid_parameter', {
      message: `"${field}": must not be blank.`,
      details: { field },
    })
  }
  return new NotifierError('invalid_template_variable', {
    message: `With these values the text of the template "${content.template?.name}" is blank.`,
    details: { field: 'variables', missing: [] },
  })
}

/**
 * Rejects variables for a literal text with placeholders: the template is missing, or the text would go out with its
 * placeholders. Variables are ignored for a text without placeholders.
 */
function assertNoValues(input: SingleSend): void {
  const { subject, body, html, text } = input
  if (![subject, body, html, text].some((source) => source?.includes('{{'))) return
  for (const field of ['variables', 'data'] as const) {
    if (Object.keys(input[field] ?? {}).length === 0) continue
    throw new NotifierError('invalid_parameter', {
      message: `"${field}" needs a template: otherwise the text would be sent with its "{{".`,
      details: { field },
    })
  }
}

export function missing(field: string, required = `The field "${field}"`): NotifierError {
  return new NotifierError('missing_required_field', {
    message: `${required} is required unless a template is named.`,
    details: { field },
  })
}

export function templateNotFound(
  reference: string,
  organizationId: string,
  code: CodeTemplates,
): NotifierError {
  const entry = code.find(reference)
  if (entry !== null) return notStored(entry)
  return new NotifierError('template_not_found', {
    status: 422,
    message: `The organization "${organizationId}" has no template "${reference}". Templates belong to one organization: create it in this one, or check its name or id.`,
    details: { field: 'template', template: reference },
  })
}

/** Only a template with `stored: true` is looked up. */
function notStored({ name, channel }: CodeTemplate): NotifierError {
  return new NotifierError('template_not_found', {
    status: 422,
    message: `The template "${name}" is declared with "stored: true", but this organization has no stored template of that name. Create it in this organization, with the channel "${channel}".`,
    details: { field: 'template', template: name, channel },
  })
}

function ofOtherChannel(template: Template, kind: ChannelKind): NotifierError {
  return new NotifierError('invalid_channel', {
    message: `The template "${template.name}" is for ${template.channel}, not for ${kind.name}.`,
    details: { field: 'channel', expected: template.channel },
  })
}
