import { isNotifierError, NotifierError } from '../core/errors/notifier-error.ts'
import { usesIn } from '../core/text/uses.ts'
import { readTemplates } from './read.ts'
import { type StoredTexts, storedTexts, type TemplateTarget } from './target.ts'
import {
  differences,
  type FileShared,
  type FileTemplate,
  type FileText,
  type TemplateFiles,
} from './texts.ts'

/** A kind of text. */
export type TextKind = 'partial' | 'layout' | 'messages' | 'template'

/** The change that a push or a pull makes to one text. */
export interface TextChange {
  readonly kind: TextKind
  /** Of messages: the locale. */
  readonly name: string
  /** `omitted`: of a push of drafts, a text that can have none. */
  readonly action: 'create' | 'update' | 'unchanged' | 'delete' | 'omitted'
  /** Of an update: the fields that change, such as `html` or `locales.de.subject`. */
  readonly changes: readonly string[]
}

/** How to push or pull. */
export interface SyncOptions {
  /** True: only says what would change. Default false. */
  readonly dryRun?: boolean | undefined
  /** True: also deletes what the other side does not have. Default false. */
  readonly delete?: boolean | undefined
}

/** How to push. */
export interface PushOptions extends SyncOptions {
  /**
   * True: changes of templates become drafts, whose differences from an earlier draft count. What can have no draft, such as a
   * layout or a new template, is `omitted`, and nothing is deleted. Default false.
   */
  readonly draft?: boolean | undefined
}

const KINDS = { partial: 'partials', layout: 'layouts', messages: 'messages', template: 'templates' } as const

/** A change, and how to make it. */
export interface Step extends TextChange {
  run(): Promise<unknown>
}

/**
 * Stores the texts of a folder: creates what is missing, and changes what differs. A repeated push changes nothing, and an
 * interrupted one is completed by the next.
 *
 * @param source a folder, or the result of {@link readTemplates}
 * @returns the changes in order, or with `dryRun` those that it would make
 * @throws NotifierError `invalid_parameter` for a wrong file; those of the notifier, with the kind and name of the text
 *
 * @example
 * const changes = await pushTemplates(notifier, 'templates', { dryRun: true })
 * for (const { action, kind, name } of changes) console.log(action, kind, name)
 */
export async function pushTemplates(
  target: TemplateTarget,
  source: string | TemplateFiles,
  options: PushOptions = {},
): Promise<readonly TextChange[]> {
  const files = typeof source === 'string' ? await readTemplates(source) : source
  const stored = await storedTexts(target, options.draft)
  const steps = pushSteps(target, files, stored, options)
  if (options.dryRun !== true) for (const step of steps) await made(step)
  return steps.map(({ kind, name, action, changes }) => ({ kind, name, action, changes }))
}

async function made({ kind, name, run }: Step): Promise<void> {
  try {
    await run()
  } catch (error) {
    if (!isNotifierError(error)) throw error
    const { code, message, details, status, retryAfterMs } = error
    const place = kind === 'messages' ? `The messages of "${name}"` : `The ${kind} "${name}"`
    throw new NotifierError(code, {
      message: `${place}: ${message}`,
      details: { ...details, kind, name },
      status,
      retryAfterMs,
      cause: error,
    })
  }
}

/** The changes in order. Each is refused if somebody has changed its text since `stored` was read. */
export function pushSteps(
  target: TemplateTarget,
  files: TemplateFiles,
  stored: StoredTexts,
  { delete: deletes = false, draft = false }: PushOptions,
): Step[] {
  if (draft) return pushSteps(target, files, stored, {}).map((step) => draftStep(target, files, stored, step))
  const writes = (kind: TextKind, names: readonly string[]) =>
    names.map((name) => writeStep(target, kind, name, files, stored))
  const removals = (kind: TextKind, names: readonly string[]) =>
    names
      .filter((name) => !Object.hasOwn(files[KINDS[kind]], name))
      .map((name) => removeStep(target, kind, name))
  return [
    ...writes('partial', ordered(files.partials)),
    ...writes('layout', Object.keys(files.layouts)),
    ...writes('messages', Object.keys(files.messages)),
    ...writes('template', Object.keys(files.templates)),
    ...(deletes
      ? [
          ...removals('template', Object.keys(stored.templates)),
          ...removals('layout', Object.keys(stored.layouts)),
          // Texts that use a partial come before it.
          ...removals('partial', ordered(stored.partials).reverse()),
          ...removals('messages', Object.keys(stored.messages)),
        ]
      : []),
  ]
}

/** The names of partials, each after those that it names. */
function ordered(partials: Readonly<Record<string, FileShared>>): string[] {
  const done = new Set<string>()
  const open = new Set<string>()
  function visit(name: string): void {
    if (done.has(name) || open.has(name) || !Object.hasOwn(partials, name)) return
    open.add(name)
    const { html, text } = partials[name] ?? {}
    for (const used of usesIn([html, text]).partials) visit(used)
    open.delete(name)
    done.add(name)
  }
  for (const name of Object.keys(partials)) visit(name)
  return [...done]
}

function writeStep(
  target: TemplateTarget,
  kind: TextKind,
  name: string,
  files: TemplateFiles,
  { versions, ...stored }: StoredTexts,
): Step {
  const group = KINDS[kind]
  const before = Object.hasOwn(stored[group], name) ? stored[group][name] : undefined
  const after = files[group][name]
  const changes = before === undefined ? [] : differences(before, after)
  const action = before === undefined ? 'create' : changes.length === 0 ? 'unchanged' : 'update'
  const version = versions[group][name] ?? 0
  const run = async () => {
    if (action !== 'unchanged') await write(target, kind, name, files, stored, version)
  }
  return { kind, name, action, changes, run }
}

/** A draft has no description or category. */
function draftStep(
  { templates }: TemplateTarget,
  files: TemplateFiles,
  stored: StoredTexts,
  step: Step,
): Step {
  const { kind, name, action } = step
  const template = files.templates[name]
  const changes = step.changes.filter((field) => field !== 'description' && field !== 'category')
  if (action === 'unchanged') return step
  if (kind !== 'template' || changes.length === 0 || template === undefined)
    return { ...step, action: 'omitted', run: async () => {} }
  const { channel: _, description, category, ...fields } = fieldsOf(template, stored.templates[name])
  const run = () => templates.saveDraft(name, { ...fields, edit: stored.edits[name] ?? 0 })
  return { ...step, changes, run }
}

function removeStep(target: TemplateTarget, kind: TextKind, name: string): Step {
  return { kind, name, action: 'delete', changes: [], run: () => target[KINDS[kind]].delete(name) }
}

function write(
  target: TemplateTarget,
  kind: TextKind,
  name: string,
  files: TemplateFiles,
  stored: TemplateFiles,
  version: number,
): Promise<unknown> {
  if (kind === 'messages') return target.messages.put(name, files.messages[name] ?? {}, { version })
  if (kind === 'template')
    return writeTemplate(target, name, files.templates[name], stored.templates[name], version)
  const group = KINDS[kind]
  const { html = null, text = null, description = null } = files[group][name] ?? {}
  const fields = { html, text, description }
  return version === 0
    ? target[group].create({ name, ...fields })
    : target[group].update(name, { ...fields, version })
}

async function writeTemplate(
  { templates }: TemplateTarget,
  name: string,
  template: FileTemplate | undefined,
  stored: FileTemplate | undefined,
  version: number,
): Promise<unknown> {
  if (template === undefined) return
  const fields = fieldsOf(template, stored)
  return version === 0
    ? templates.create({ name, ...fields })
    : templates.update(name, { ...fields, version })
}

/** All fields of a template, with null for what it does not have. */
function fieldsOf(template: FileTemplate, stored: FileTemplate | undefined) {
  const { channel, subject = null, layout = null, locale = null, description = null } = template
  const { category = null, metadata = null, locales = {} } = template
  const removed = Object.keys(stored?.locales ?? {}).filter((each) => !Object.hasOwn(locales, each))
  return {
    channel,
    subject,
    ...textOf(template),
    layout,
    locale,
    locales: {
      ...Object.fromEntries(removed.map((each) => [each, null])),
      ...Object.fromEntries(
        Object.entries(locales).map(([each, variant]) => [
          each,
          { subject: variant.subject ?? null, ...textOf(variant) },
        ]),
      ),
    },
    description,
    category,
    metadata,
  }
}

/** With a format, because a stored body with the same text keeps its format. */
function textOf({ html, text, body = '' }: FileText) {
  if (html !== undefined && text !== undefined) return { html, text }
  if (html !== undefined) return { body: html, format: 'html' as const }
  if (text !== undefined) return { body: text, format: 'text' as const }
  return { body, format: null }
}
