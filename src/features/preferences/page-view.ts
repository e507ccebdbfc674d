import { htmlPage, type PageLook } from '../../core/links/page.ts'
import type { LocalTexts } from '../../core/links/texts/catalogue.ts'
import { DEFAULT_CATEGORY } from '../../core/notification/category.ts'
import type { HandlerResult } from '../../core/rest/route.ts'
import { escapeHtml } from '../../core/text/escape.ts'
import { cellName } from './model.ts'
import type { PreferencePage, ShownCategory, Topic } from './page.ts'
import type { SAVED } from './query-schemas.ts'
import { quietFieldset } from './quiet-view.ts'

type Texts = LocalTexts['texts']

/**
 * The result of a post. `partly`: without the quiet hours. `undone`: an earlier post is undone. `changed`: it is not, because
 * the preferences have changed since. `nothing`: the form could not be read. Null: there was no post.
 */
type Saved = (typeof SAVED)[number] | 'nothing' | null

export interface PostedBefore {
  readonly saved: Saved
  /** A token that undoes it. Null: there is none. */
  readonly undo: string | null
}

export function preferencePage(
  { texts, ...look }: PageLook,
  { categories, quiet }: PreferencePage,
  { saved, undo }: PostedBefore,
  status = 200,
): HandlerResult {
  const shown = categories
    .filter(({ required }) => !required)
    .flatMap(({ id, channels }) => channels.filter(({ on }) => on).map(({ name }) => cellName(id, name)))
  const choices = table(categories, texts)
  const was = `<input type="hidden" name="was" value="${escapeHtml(shown.join(' '))}">`
  const body =
    `${noticeOf(saved, texts)}${undoForm(texts, undo)}<p>${escapeHtml(texts.intro)}</p>` +
    `<form method="post">${was}${choices}${quietFieldset(quiet, { texts, language: look.language })}<button>${escapeHtml(texts.save)}</button></form>` +
    `<form method="post"><p>${escapeHtml(texts.noneHint)}</p>` +
    `<button class="plain" name="none" value="1">${escapeHtml(texts.none)}</button></form>`
  return htmlPage(status, look, texts.title, body)
}

function noticeOf(saved: Saved, texts: Texts): string {
  if (saved === null) return ''
  const said: Readonly<Record<NonNullable<Saved>, readonly [done: string | null, fault: string | null]>> = {
    all: [texts.saved, null],
    partly: [texts.saved, texts.quietWrong],
    undone: [texts.undoneText, null],
    changed: [null, texts.changedText],
    nothing: [null, texts.unread],
  }
  const [done, fault] = said[saved]
  return (
    (done === null ? '' : `<p role="status">${escapeHtml(done)}</p>`) +
    (fault === null ? '' : `<p role="alert">${escapeHtml(fault)}</p>`)
  )
}

/** @param token null: none, and no form */
export function undoForm({ undo }: Texts, token: string | null): string {
  if (token === null) return ''
  const button = `<button class="plain" name="undo" value="${escapeHtml(token)}">${escapeHtml(undo)}</button>`
  return `<form method="post">${button}</form>`
}

const MOST_COLUMNS = 4

/** The categories as rows and the channels as columns. Narrow screens show each row with its channels below. */
function table(categories: readonly ShownCategory[], texts: Texts): string {
  const channels = categories[0]?.channels.map(({ name }) => name) ?? []
  const heads = channels
    .map((name, at) => `<th scope="col" id="h${at}">${escapeHtml(channelName(name, texts))}</th>`)
    .join('')
  const rows = categories.map((category, at) => row(category, at, texts)).join('')
  // More columns than a page is wide.
  const many = channels.length > MOST_COLUMNS ? ' class="many"' : ''
  return `<table${many}><thead><tr><td></td>${heads}</tr></thead><tbody>${rows}</tbody></table>`
}

function row(category: ShownCategory, at: number, texts: Texts): string {
  const { id, required, channels } = category
  const { name, description } = topicWords(category, texts)
  const about = description === null ? '' : `<p id="d${at}">${escapeHtml(description)}</p>`
  const described = description === null ? '' : ` aria-describedby="d${at}"`
  const cells = required
    ? `<td colspan="${channels.length}" class="always">${escapeHtml(texts.always)}</td>`
    : channels
        .map((channel, column) => {
          const names = ` aria-labelledby="c${at} h${column}"${described}`
          return `<td>${checkbox(id, channel, names, texts)}</td>`
        })
        .join('')
  return `<tr><th scope="row"><span id="c${at}">${escapeHtml(name)}</span>${about}</th>${cells}</tr>`
}

/** The name and the description of a category in the language of the page. */
export function topicWords(
  { id, name, description }: Topic,
  { general, categories }: Texts,
): { readonly name: string; readonly description: string | null } {
  const own = Object.hasOwn(categories, id) ? categories[id] : undefined
  const given = id === DEFAULT_CATEGORY && name === null ? general : (name ?? id)
  return { name: own?.name ?? given, description: own?.description ?? description }
}

/** @param names attributes that name it */
function checkbox(
  category: string,
  { name, on }: ShownCategory['channels'][number],
  names: string,
  texts: Texts,
): string {
  const value = escapeHtml(cellName(category, name))
  const checked = on ? ' checked' : ''
  const label = escapeHtml(channelName(name, texts))
  return `<label><input type="checkbox" name="on" value="${value}"${checked}${names}><span>${label}</span></label>`
}

function channelName(name: string, { channels }: Texts): string {
  return Object.hasOwn(channels, name) ? (channels[name] ?? name) : name
}
