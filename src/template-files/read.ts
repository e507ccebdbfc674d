import * as z from 'zod'
import type { AnyTemplate } from '../core/accept/declared-templates.ts'
import { CHANNEL_NAME } from '../core/channels/channel-kind.ts'
import { canonicalLocale } from '../core/input/locale.ts'
import { SHARED_NAME } from '../core/text/shared-text.ts'
import type { DefinedTemplates } from '../features/code-templates/index.ts'
import { fileError } from './file-error.ts'
import { readFolder } from './folder.ts'
import { type Matter, readMatter } from './front-matter.ts'
import {
  type FileShared,
  type FileTemplate,
  type FileText,
  type FileVariant,
  present,
  type TemplateFiles,
} from './texts.ts'

/** The texts of a folder, which are also options of `createNotifier`. A send may then name any template. */
export interface LoadedTemplates extends TemplateFiles {
  readonly templates: TemplateFiles['templates'] & DefinedTemplates<AnyTemplate>
}

/** A kind of text by the end of a file's name. */
const FIELDS: Readonly<Record<string, keyof FileText>> = { html: 'html', txt: 'text', mustache: 'body' }

const templateFields = ['subject', 'layout', 'locale', 'description', 'category', 'metadata']

/** The files of one text, by field. */
interface Sources {
  /** The file with the front matter. */
  readonly file: string
  readonly fields: Matter['fields']
  readonly lines: Matter['lines']
  readonly text: FileText
}

/** Where a file belongs: `welcome.email.de.html` is the HTML of the template `welcome` in German. */
interface TextTarget {
  readonly role: 'template' | 'layout' | 'partial'
  readonly name: string
  /** Empty for layouts and partials. */
  readonly channel: string
  /** Empty: none. */
  readonly locale: string
  readonly field: keyof FileText
}

/**
 * Reads a folder of templates, layouts, partials and messages: for `createNotifier({ channels, ...texts })`, or a push.
 *
 * @throws NotifierError `invalid_parameter`, which names the file and the line
 *
 * @example
 * const notifier = createNotifier({ channels: { email: provider }, ...(await readTemplates('templates')) })
 */
export async function readTemplates(folder: string): Promise<LoadedTemplates> {
  return templatesIn(await readFolder(folder)) as LoadedTemplates
}

/** The texts of files by path. @throws as {@link readTemplates} */
function templatesIn(files: ReadonlyMap<string, string>): TemplateFiles {
  const groups = new Map<
    string,
    { readonly target: TextTarget; readonly files: Map<keyof FileText, string> }
  >()
  const messages: Record<string, Readonly<Record<string, string>>> = {}
  for (const file of files.keys()) {
    if (file.startsWith('messages/')) {
      const locale = catalogueOf(file)
      if (messages[locale] !== undefined) throw fileError(file, `Another file has the messages of ${locale}.`)
      messages[locale] = messagesOf(file, files.get(file) ?? '')
      continue
    }
    const target = targetOf(file)
    const key = [target.role, target.name, target.channel, target.locale].join('\n')
    const group = groups.get(key) ?? { target, files: new Map() }
    if (group.files.has(target.field)) throw fileError(file, 'Another file has the same text. Remove one.')
    group.files.set(target.field, file)
    groups.set(key, group)
  }
  const texts = [...groups.values()].map((group) => ({
    target: group.target,
    ...sourcesOf(group.files, files),
  }))
  return {
    templates: templatesOf(texts),
    layouts: sharedOf(texts, 'layout'),
    partials: sharedOf(texts, 'partial'),
    messages,
  }
}

type TargetedText = Sources & { readonly target: TextTarget }

/**
 * Refuses the path of a file that no folder could have, before it is written: stored names may come from another program.
 *
 * @throws NotifierError `invalid_parameter`
 */
export function assertReadable(file: string): void {
  if (file.startsWith('messages/')) catalogueOf(file)
  else targetOf(file)
}

const EXPECTED =
  'Name it like welcome.email.html, welcome.email.de.txt, layouts/brand.html, partials/footer.txt or messages/de.json.'

function targetOf(file: string): TextTarget {
  const [, folder, base = file] = /^(layouts|partials)\/(.*)$/.exec(file) ?? []
  const parts = base.split('.')
  const field = FIELDS[parts.pop() ?? '']
  const [name = '', channel = '', locale = ''] = parts
  const isTemplate = folder === undefined
  const isNamed = SHARED_NAME.test(name) && name.length <= 100
  const isRight = isTemplate
    ? CHANNEL_NAME.test(channel) && parts.length <= 3
    : parts.length === 1 && field !== 'body'
  if (field === undefined || !isNamed || !isRight) throw fileError(file, EXPECTED)
  const role = folder === undefined ? 'template' : folder === 'layouts' ? 'layout' : 'partial'
  return { role, name, channel, locale: parts.length === 3 ? localeOf(file, locale) : '', field }
}

function catalogueOf(file: string): string {
  return localeOf(file, /^messages\/([^.]+)\.json$/.exec(file)?.[1])
}

function localeOf(file: string, name: string | undefined): string {
  const locale = name === undefined ? null : canonicalLocale(name)
  if (locale === null) throw fileError(file, EXPECTED)
  return locale
}

/** The first of a text's files has the front matter. */
function sourcesOf(of: ReadonlyMap<keyof FileText, string>, files: ReadonlyMap<string, string>): Sources {
  const order = (['body', 'html', 'text'] as const).filter((field) => of.has(field))
  const [main = 'html', ...others] = order
  const file = of.get(main) ?? ''
  if (main === 'body' && others.length > 0)
    throw fileError(file, 'It stands for HTML and text. Remove it, or the other files of the text.')
  const { fields, lines, text } = readMatter(files.get(file) ?? '', file)
  const rest = others.map((field) => [field, files.get(of.get(field) ?? '')])
  return { file, fields, lines, text: { [main]: text, ...Object.fromEntries(rest) } }
}

/** The fields of front matter, checked. */
function fieldsOf({ file, fields, lines }: Sources, known: readonly string[]): Record<string, unknown> {
  for (const [name, value] of Object.entries(fields)) {
    const line = lines.get(name)
    if (!known.includes(name))
      throw fileError(file, `"${name}" is unknown here. Known: ${known.join(', ')}.`, line)
    const right = name === 'metadata' ? z.record(z.string(), z.string()) : z.string()
    if (right.safeParse(value).success) continue
    const expected = name === 'metadata' ? 'an object of texts, such as {"team": "shop"}' : 'a text'
    throw fileError(file, `"${name}" must be ${expected}.`, line)
  }
  const { metadata, ...rest } = fields
  return { ...rest, ...(isEmpty(metadata) ? {} : { metadata }) }
}

function isEmpty(metadata: unknown): boolean {
  return Object.keys(Object(metadata)).length === 0
}

function templatesOf(texts: readonly TargetedText[]): Record<string, FileTemplate> {
  const templates = new Map<string, FileTemplate>()
  for (const text of texts) {
    const { role, name, channel, locale } = text.target
    if (role !== 'template' || locale !== '') continue
    if (templates.has(name))
      throw fileError(text.file, `Another file has the template "${name}" for another channel.`)
    templates.set(name, { channel, ...fieldsOf(text, templateFields), ...text.text })
  }
  for (const text of texts) {
    const { role, name, channel, locale } = text.target
    if (role !== 'template' || locale === '') continue
    const template = templates.get(name)
    if (template?.channel !== channel)
      throw fileError(
        text.file,
        `There is no template "${name}" for ${channel}. Add a file without a locale.`,
      )
    const variant: FileVariant = { ...fieldsOf(text, ['subject']), ...text.text }
    templates.set(name, { ...template, locales: { ...template.locales, [locale]: variant } })
  }
  return Object.fromEntries([...templates].map(([name, template]) => [name, withLocale(template)]))
}

function withLocale(template: FileTemplate): FileTemplate {
  const locale =
    template.locale === undefined ? undefined : (canonicalLocale(template.locale) ?? template.locale)
  return { ...template, ...present({ locale }) }
}

function sharedOf(texts: readonly TargetedText[], role: TextTarget['role']): Record<string, FileShared> {
  const found = texts.filter(({ target }) => target.role === role)
  return Object.fromEntries(
    found.map((text) => [text.target.name, { ...fieldsOf(text, ['description']), ...text.text }]),
  )
}

function messagesOf(file: string, source: string): Readonly<Record<string, string>> {
  let value: unknown
  try {
    value = JSON.parse(source.replace(/^\uFEFF/, ''))
  } catch (cause) {
    throw fileError(file, 'It is not JSON.', lineOfError(source, cause), cause)
  }
  const { data } = z.record(z.string(), z.string()).safeParse(value)
  if (data === undefined)
    throw fileError(file, 'It must be an object of messages by key, such as {"welcome.title": "Welcome"}.')
  return data
}

/** The line at the position in an error of `JSON.parse`. */
function lineOfError(source: string, error: unknown): number | undefined {
  const position = /at position (\d+)/.exec(String(error))?.[1]
  return position === undefined ? undefined : source.slice(0, Number(position)).split('\n').length
}
