import { htmlPage, type PageLook } from '../../core/links/page.ts'
import type { LocalTexts } from '../../core/links/texts/catalogue.ts'
import type { HandlerResult } from '../../core/rest/route.ts'
import { escapeHtml } from '../../core/text/escape.ts'
import type { Topic } from './page.ts'
import { topicWords, undoForm } from './page-view.ts'

/** The form's only field, named by RFC 8058: people and mail providers send the same request. */
function form({ unsubscribe }: LocalTexts['texts']): string {
  const field = '<input type="hidden" name="List-Unsubscribe" value="One-Click">'
  return `<form method="post">${field}<button>${escapeHtml(unsubscribe)}</button></form>`
}

function paragraph(text: string): string {
  return `<p>${escapeHtml(text)}</p>`
}

function notice(text: string): string {
  return `<p role="status">${escapeHtml(text)}</p>`
}

function manageLink({ manage }: LocalTexts['texts'], href: string | null): string {
  if (href === null) return ''
  return `<p><a href="${href.replaceAll('&', '&amp;')}">${escapeHtml(manage)}</a></p>`
}

/** What a page is about, and the address of the preference page; null: no link to it. */
export interface About {
  readonly topic: Topic | null
  readonly managing: string | null
}

/** Says which messages it is about, and from whom. */
function topicBox(topic: Topic | null, { texts, branding }: PageLook): string {
  if (topic === null) return ''
  const { name, description } = topicWords(topic, texts)
  const about = [branding?.name, description]
    .filter((each) => each != null)
    .map((each) => `<bdi>${escapeHtml(each)}</bdi>`)
  return `<p class="topic"><strong>${escapeHtml(name)}</strong>${about.length === 0 ? '' : `<span>${about.join(' · ')}</span>`}</p>`
}

export function confirmPage(look: PageLook, { topic, managing }: About): HandlerResult {
  const { texts } = look
  const body = topicBox(topic, look) + paragraph(texts.askText) + form(texts) + manageLink(texts, managing)
  return htmlPage(200, look, texts.askTitle, body)
}

/** @param undo token of the form that undoes it; null: none */
export function donePage(look: PageLook, { topic, managing }: About, undo: string | null): HandlerResult {
  const { texts } = look
  const body =
    topicBox(topic, look) + notice(texts.doneText) + undoForm(texts, undo) + manageLink(texts, managing)
  return htmlPage(200, look, texts.doneTitle, body)
}

/** @param isUndone false: the preferences have changed since */
export function undonePage(look: PageLook, { topic, managing }: About, isUndone: boolean): HandlerResult {
  const { texts } = look
  const said = isUndone ? notice(texts.undoneText) : paragraph(texts.changedText)
  const title = isUndone ? texts.undoneTitle : texts.changedTitle
  return htmlPage(200, look, title, topicBox(topic, look) + said + manageLink(texts, managing))
}

/** @param status 409 in answer to an unsubscription */
export function requiredPage(status: 200 | 409, look: PageLook, { topic, managing }: About): HandlerResult {
  const { texts } = look
  const body = topicBox(topic, look) + paragraph(texts.requiredText) + manageLink(texts, managing)
  return htmlPage(status, look, texts.requiredTitle, body)
}

export function incompletePage(look: PageLook, { topic }: About): HandlerResult {
  const { texts } = look
  return htmlPage(400, look, texts.askTitle, topicBox(topic, look) + paragraph(texts.confirm) + form(texts))
}
