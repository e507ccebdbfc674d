import type { RenderedText } from '../../core/channels/channel-kind.ts'
import { isNotifierError, NotifierError } from '../../core/errors/notifier-error.ts'
import { type Bounds, bytesOf, counted } from '../../core/input/bounds.ts'
import {
  createLinkPlaceholders,
  type LinkPlaceholders,
  placeholdersIn,
} from '../../core/links/link-placeholders.ts'
import { assertLinkable, type Links } from '../../core/links/links.ts'
import type { CodeText } from '../../core/notification/notification.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Markup } from '../../core/ports/markup.ts'
import { withOrganization } from '../../core/tenancy/branding.ts'
import type { Branding } from '../../core/tenancy/organization.ts'
import type { BrandingFinder } from '../../core/tenancy/plan-of.ts'
import { jsonValues, type WriteOptions } from '../../core/text/code-templates.ts'
import { toHeader } from '../../core/text/compile.ts'
import type { CompiledTemplates } from '../../core/text/compiled-templates.ts'
import type { Template } from '../../core/text/template.ts'
import { createTranslation, type Translate, type Translation } from '../../core/text/translate.ts'
import type { Languages } from '../languages/index.ts'
import { answered, type CodePart } from './answered.ts'
import type { TranslatedContext } from './define.ts'
import { type AnyTextFunction, type CodeDefinition, mustacheOf } from './options.ts'
import { failed } from './values.ts'

export interface WriteServices {
  readonly compiled: Pick<CompiledTemplates, 'of'>
  readonly languages: Pick<Languages, 'localeOf' | 'timeZoneOf'>
  readonly brandingOf: BrandingFinder
  readonly links: Pick<Links, 'canLink'>
  readonly markup: Markup
  readonly clock: Clock
  readonly bounds: Bounds
}

type Field = 'subject' | 'html' | 'text'

const NOTHING: RenderedText = { subject: null, body: '', format: 'text' }

/** Writes the texts of templates in code. */
export function createWrite(services: WriteServices) {
  const { compiled, languages, brandingOf, links } = services

  /** The texts that are mustache. */
  function fromMustache(
    template: Template,
    values: unknown,
    { subject, spent }: WriteOptions,
    timeZone: string,
    organization: Branding,
    { urls }: LinkPlaceholders,
  ): RenderedText {
    const { given, assertVariables, render } = compiled.of(template)
    const own = jsonValues(template.name, values)
    const fields = given.organization.size > 0 ? withOrganization(own, organization) : own
    const instead = { subject, timeZone }
    assertLinkable(given.links, fields, links)
    assertVariables(fields, instead, spent)
    return render({ ...fields, ...urls }, instead, spent)
  }

  return async function write(
    definition: CodeDefinition,
    template: Template,
    values: unknown,
    options: WriteOptions,
  ): Promise<CodeText> {
    const { name, organizationId, made } = template
    const locale = made?.language?.locale ?? options.locale ?? (await languages.localeOf(organizationId))
    const timeZone = options.timeZone ?? (await languages.timeZoneOf(organizationId, made?.timeZone))
    const organization = await brandingOf(organizationId)
    const placeholders = createLinkPlaceholders()
    const mustache = hasMustache(definition)
      ? fromMustache(template, values, options, timeZone, organization, placeholders)
      : NOTHING
    const { urls } = placeholders
    const language = definition.messages === true ? (made?.language ?? null) : null
    const translation =
      language &&
      createTranslation(
        language,
        { variables: values, links: withOrganization({ ...urls }, organization) },
        timeZone,
        services.bounds,
      )
    const t = translation?.translate ?? withoutMessages(name)
    const context = { variables: values, locale, timeZone, organization, urls, t }
    const texts = await translated(translation, options, () =>
      textsOf(definition, mustache, context, options, services),
    )
    const used = placeholdersIn(Object.values(texts), placeholders)
    if (!links.canLink && used.size > 0) throw withoutLinks(name, texts, placeholders)
    return {
      ...pinned(texts, options),
      template: { id: name, name, texts: { locale } },
      ...(used.size === 0 ? {} : { linkNonce: placeholders.nonce }),
    }
  }
}

/**
 * The texts of functions, and what their messages cost. If a message is missing, what the function returned is ignored.
 */
async function translated<Written>(
  translation: Translation | null,
  { spent, keys }: WriteOptions,
  write: () => Promise<Written>,
): Promise<Written> {
  if (translation === null) return write()
  try {
    return await write()
  } finally {
    if (spent !== undefined) spent.pieces += translation.cost
    for (const key of translation.keys) keys?.add(key)
    translation.assertFound()
  }
}

/** For plain JavaScript. */
function withoutMessages(template: string): Translate {
  return () => {
    throw new NotifierError('template_error', {
      message: `A function of the template "${template}" uses \`t\`. Add "messages: true" to the template.`,
      details: { template, field: 'messages' },
    })
  }
}

type Texts = { readonly [Name in Field]: string | undefined }

/** The texts of functions, and with them those of mustache. */
async function textsOf(
  definition: CodeDefinition,
  { subject, body, format, text }: RenderedText,
  context: TranslatedContext<unknown>,
  options: WriteOptions,
  services: CallServices,
): Promise<Texts> {
  const { name } = definition
  const inText = format === 'html' ? text : body
  async function write(field: Field, otherwise: string | undefined): Promise<Written | undefined> {
    const source = definition[field]
    if (typeof source !== 'function')
      return source === undefined || otherwise === undefined ? undefined : { text: otherwise }
    const written = await called(name, field, source, context, services)
    if (options.spent !== undefined) options.spent.characters += written.text.length
    return written
  }
  const html = await write('html', body)
  const plain = await write('text', inText)
  return {
    subject: options.subject ?? (await write('subject', subject ?? undefined))?.text,
    html: html?.text,
    text: plain?.text ?? html?.plain,
  }
}

function pinned(
  { subject, html, text }: Texts,
  { format = 'html' }: WriteOptions,
): Omit<CodeText, 'template' | 'linkNonce'> {
  const title = subject === undefined ? {} : { subject: toHeader(subject) }
  if (html === undefined) return { ...title, body: text ?? '', format: 'text' }
  return { ...title, body: html, format, ...(text === undefined ? {} : { text }) }
}

function hasMustache(definition: CodeDefinition): boolean {
  return Object.values(mustacheOf(definition)).some((source) => source !== undefined)
}

interface Written {
  readonly text: string
  /** The plain text of an element of React. */
  readonly plain?: string | undefined
}

type CallServices = Pick<WriteServices, 'markup' | 'clock' | 'bounds'>

/** @throws NotifierError `template_error`, `message_too_large`, `missing_peer` */
async function called(
  template: string,
  field: Field,
  write: AnyTextFunction,
  context: TranslatedContext<unknown>,
  { markup, clock, bounds }: CallServices,
): Promise<Written> {
  const part = { template, field, what: `The function "${field}"` }
  const returned = await answerOf(part, () => write(context), clock)
  if (typeof returned === 'string') return { text: sound(part, returned, bounds) }
  if (field === 'subject' || !isElement(returned)) throw noText(template, field, returned)
  const element = { ...part, what: `The element of the function "${field}"` }
  const { html, text } = await answerOf(element, () => markup.react(returned), clock)
  return { text: sound(part, field === 'html' ? html : text, bounds), plain: sound(part, text, bounds) }
}

async function answerOf<Answer>(
  part: CodePart,
  call: () => Answer | Promise<Answer>,
  clock: Clock,
): Promise<Answer> {
  try {
    return await answered(call(), part, clock)
  } catch (cause) {
    throw isNotifierError(cause) ? cause : failed(part, cause)
  }
}

/** @throws NotifierError `message_too_large` */
function sound({ template, field, what }: CodePart, text: string, { textBytes }: Bounds): string {
  const size = bytesOf(text)
  if (size > textBytes) {
    throw new NotifierError('message_too_large', {
      message: `${what} of the template "${template}" returned ${counted(size)} bytes; the option "bounds.textBytes" allows ${counted(textBytes)}. Shorten it, or raise the option.`,
      details: { template, field },
    })
  }
  // A function may cut a text in the middle of a character.
  return text.replace(/\p{Cs}/gu, '\uFFFD')
}

/** An element of React 18 or later. */
function isElement(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && '$$typeof' in value && typeof value.$$typeof === 'symbol'
  )
}

function noText(name: string, field: Field, returned: unknown): NotifierError {
  const kind = returned === null ? 'null' : Array.isArray(returned) ? 'a list' : typeof returned
  return new NotifierError('template_error', {
    message: `The function "${field}" of the template "${name}" returned ${kind}. It must return a text${field === 'subject' ? '' : ' or an element of React'}.`,
    details: { template: name, field },
  })
}

/** The mustache texts were checked before, so a function has the link. */
function withoutLinks(template: string, texts: Texts, placeholders: LinkPlaceholders): NotifierError {
  const [field = 'html', text] =
    Object.entries(texts).find(([, text]) => placeholdersIn([text], placeholders).size > 0) ?? []
  const [link] = placeholdersIn([text], placeholders)
  return new NotifierError('invalid_parameter', {
    message: `The function "${field}" of the template "${template}" uses \`urls.${link}\`, which needs the option "publicUrl". It is not set.`,
    details: { field, template, option: 'publicUrl' },
  })
}
