import { htmlPage, type PageLook } from '../../core/links/page.ts'
import type { LocalTexts } from '../../core/links/texts/catalogue.ts'
import type { HandlerResult } from '../../core/rest/route.ts'
import { escapeHtml } from '../../core/text/escape.ts'

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
export function confirmPage({ texts, ...look }: PageLook, preferences: string | null): HandlerResult {
  const body = paragraph(texts.askText) + form(texts) + managing(texts, preferences)
  return htmlPage(200, look, texts.askTitle, body)
}

export function donePage({ texts, ...look }: PageLook, preferences: string | null): HandlerResult {
  return htmlPage(200, look, texts.doneTitle, paragraph(texts.doneText) + managing(texts, preferences))
}

/** @param status 409 in answer to an unsubscription */
export function requiredPage(
  status: 200 | 409,
  { texts, ...look }: PageLook,
  preferences: string | null,
): HandlerResult {
  const body = paragraph(texts.requiredText) + managing(texts, preferences)
  return htmlPage(status, look, texts.requiredTitle, body)
}

export function incompletePage({ texts, ...look }: PageLook): HandlerResult {
  return htmlPage(400, look, texts.askTitle, paragraph(texts.confirm) + form(texts))
}
