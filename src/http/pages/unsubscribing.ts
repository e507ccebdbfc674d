import { escapeHtml } from '../../domain/template/escape.ts'
import type { HandlerResult } from '../routes/route.ts'
import { htmlPage } from './html.ts'
import type { LocalTexts } from './texts/catalogue.ts'

/** The form's only field, named by RFC 8058: people and mail providers send the same request. */
function form({ unsubscribe }: LocalTexts['texts']): string {
  const field = '<input type="hidden" name="List-Unsubscribe" value="One-Click">'
  return `<form method="post">${field}<button>${escapeHtml(unsubscribe)}</button></form>`
}

function paragraph(text: string): string {
  return `<p>${escapeHtml(text)}</p>`
}

function managing({ manage }: LocalTexts['texts'], href: string | null): string {
  if (href === null) return ''
  return `<p><a href="${href.replaceAll('&', '&amp;')}">${escapeHtml(manage)}</a></p>`
}

/** @param preferences address of the preference page; null: no link to it */
export function confirmPage({ language, texts }: LocalTexts, preferences: string | null): HandlerResult {
  const body = paragraph(texts.askText) + form(texts) + managing(texts, preferences)
  return htmlPage(200, language, texts.askTitle, body)
}

export function donePage({ language, texts }: LocalTexts, preferences: string | null): HandlerResult {
  return htmlPage(200, language, texts.doneTitle, paragraph(texts.doneText) + managing(texts, preferences))
}

/** @param status 409 in answer to an unsubscription */
export function requiredPage(
  status: 200 | 409,
  { language, texts }: LocalTexts,
  preferences: string | null,
): HandlerResult {
  const body = paragraph(texts.requiredText) + managing(texts, preferences)
  return htmlPage(status, language, texts.requiredTitle, body)
}

export function incompletePage({ language, texts }: LocalTexts): HandlerResult {
  return htmlPage(400, language, texts.askTitle, paragraph(texts.confirm) + form(texts))
}

export function unknownPage({ language, texts }: LocalTexts): HandlerResult {
  return htmlPage(404, language, texts.unknownTitle, paragraph(texts.unknownText))
}
