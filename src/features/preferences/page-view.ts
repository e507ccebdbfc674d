import { htmlPage, type PageLook } from '../../core/links/page.ts'
import type { LocalTexts } from '../../core/links/texts/catalogue.ts'
import { DEFAULT_CATEGORY } from '../../core/notification/category.ts'
import type { HandlerResult } from '../../core/rest/route.ts'
import { escapeHtml } from '../../core/text/escape.ts'
import { cellName } from './model.ts'
import type { PreferencePage, ShownCategory, Topic } from './page.ts'
import { quietFieldset } from './quiet-view.ts'

type Texts = LocalTexts['texts']

/** What the page says about a post. `partly`: the quiet hours are not saved. `nothing`: the form could not be read. */
export type Saved = 'all' | 'partly' | 'nothing' | null

export function preferencePage(
  { texts, ...look }: PageLook,
  { categories, quiet }: PreferencePage,
  saved: Saved,
  status = 200,
): HandlerResult {
  const shown = categories
    .filter(({ required }) => !required)
    .flatMap(({ id, channels }) => channels.filter(({ on }) => on).map(({ name }) => cellName(id, name)))
  const choices = categories.map((category, at) => fieldset(category, at, texts)).join('')
  const was = `<input type="hidden" name="was" value="${escapeHtml(shown.join(' '))}">`
  const body =
    `${noticeOf(saved, texts)}<p>${escapeHtml(texts.intro)}</p>` +
    `<form method="post">${was}${choices}${quietFieldset(quiet, { texts, language: look.language })}<button>${escapeHtml(texts.save)}</button></form>` +
    `<form method="post"><p>${escapeHtml(texts.noneHint)}</p>` +
    `<button class="plain" name="none" value="1">${escapeHtml(texts.none)}</button></form>`
  return htmlPage(status, look, texts.title, body)
}

function noticeOf(saved: Saved, texts: Texts): string {
  const said = saved === 'all' || saved === 'partly' ? `<p role="status">${escapeHtml(texts.saved)}</p>` : ''
  const fault = saved === 'partly' ? texts.quietWrong : saved === 'nothing' ? texts.unread : null
  return fault === null ? said : `${said}<p role="alert">${escapeHtml(fault)}</p>`
}

function fieldset(category: ShownCategory, at: number, texts: Texts): string {
  const { id, required, channels } = category
  const { name, description } = topicWords(category, texts)
  const about = description === null ? '' : `<p id="d${at}">${escapeHtml(description)}</p>`
  const described = description === null ? '' : ` aria-describedby="d${at}"`
  const content = required
    ? `<p>${escapeHtml(texts.always)}</p>`
    : channels.map((channel) => checkbox(id, channel, texts)).join('')
  return `<fieldset${described}><legend>${escapeHtml(name)}</legend>${about}${content}</fieldset>`
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

function checkbox(
  category: string,
  { name, on }: ShownCategory['channels'][number],
  { channels }: Texts,
): string {
  const label = Object.hasOwn(channels, name) ? (channels[name] ?? name) : name
  const value = escapeHtml(cellName(category, name))
  const checked = on ? ' checked' : ''
  return `<label><input type="checkbox" name="on" value="${value}"${checked}>${escapeHtml(label)}</label>`
}
