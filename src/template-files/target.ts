import type { StoredTemplates } from '../core/text/api.ts'
import type { TemplateDraftRecord, TemplateRecord } from '../core/text/model.ts'
import type { Catalogues } from '../features/languages/index.ts'
import type { SharedTexts } from '../features/layouts/index.ts'
import { type FileShared, type FileTemplate, type FileVariant, present, type TemplateFiles } from './texts.ts'

/** A notifier, or `notifier.organization(id)`. */
export interface TemplateTarget {
  readonly templates: Pick<StoredTemplates, 'list' | 'create' | 'update' | 'delete' | 'draft' | 'saveDraft'>
  readonly layouts: Pick<SharedTexts, 'list' | 'create' | 'update' | 'delete'>
  readonly partials: Pick<SharedTexts, 'list' | 'create' | 'update' | 'delete'>
  readonly messages: Pick<Catalogues, 'list' | 'get' | 'put' | 'delete'>
}

/** The stored texts of an organization, with the versions on which changes are based. */
export interface StoredTexts extends TemplateFiles {
  readonly versions: {
    readonly [Kind in keyof TemplateFiles]: Readonly<Record<string, number>>
  }
  /** Of drafts by the names of templates, if the texts are theirs. */
  readonly edits: Readonly<Record<string, number>>
}

/** @param ofDrafts true: a template that has a draft has its text */
export async function storedTexts(target: TemplateTarget, ofDrafts = false): Promise<StoredTexts> {
  const listed = await all((query) => target.templates.list(query))
  const drafts: TemplateDraftRecord[] = []
  for (const { name, hasDraft } of listed)
    if (ofDrafts && hasDraft) drafts.push(await target.templates.draft(name))
  const templates = listed.map((record) => ({
    ...record,
    ...drafts.find(({ name }) => name === record.name),
  }))
  const layouts = await all((query) => target.layouts.list(query))
  const partials = await all((query) => target.partials.list(query))
  const { items } = await target.messages.list()
  const catalogues = []
  for (const { locale } of items) catalogues.push(await target.messages.get(locale))
  return {
    templates: byName(templates, toFile),
    layouts: byName(layouts, toShared),
    partials: byName(partials, toShared),
    messages: Object.fromEntries(catalogues.map(({ locale, messages }) => [locale, messages])),
    versions: {
      templates: byName(templates, versionOf),
      layouts: byName(layouts, versionOf),
      partials: byName(partials, versionOf),
      messages: Object.fromEntries(catalogues.map(({ locale, version }) => [locale, version])),
    },
    edits: byName(drafts, ({ edit }) => edit),
  }
}

async function all<Item>(
  list: (query: {
    readonly limit: number
    readonly cursor?: string
  }) => Promise<{ readonly items: readonly Item[]; readonly nextCursor: string | null }>,
): Promise<Item[]> {
  const found: Item[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await list({ limit: 100, ...(cursor === '' ? {} : { cursor }) })
    found.push(...page.items)
    cursor = page.nextCursor
  }
  return found
}

function byName<Item extends { readonly name: string }, Result>(
  items: readonly Item[],
  of: (item: Item) => Result,
): Record<string, Result> {
  return Object.fromEntries(items.map((item) => [item.name, of(item)]))
}

const versionOf = ({ version }: { readonly version: number }): number => version

function toFile({ channel, locales, ...record }: TemplateRecord): FileTemplate {
  const { subject, body, html, text, layout, locale, description, category, metadata } = record
  const variants = Object.entries(locales).map(([each, variant]): [string, FileVariant] => [
    each,
    present({ ...variant }),
  ])
  return {
    channel,
    ...present({ subject, body, html, text, layout, locale, description, category, metadata }),
    ...(variants.length === 0 ? {} : { locales: Object.fromEntries(variants) }),
  }
}

function toShared(record: {
  readonly html: string | null
  readonly text: string | null
  readonly description: string | null
}): FileShared {
  const { html, text, description } = record
  return present({ html, text, description })
}
