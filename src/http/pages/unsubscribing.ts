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

function managing({ manage }: LocalTexts['texts'], token: string | null): string {
  if (token === null) return ''
  return `<p><a href="preferences?t=${encodeURIComponent(token)}">${escapeHtml(manage)}</a></p>`
}

/** @param token of the preference page; null: no link to it */
export function confirmPage({ language, texts }: LocalTexts, token: string | null): HandlerResult {
  const body = paragraph(texts.askText) + form(texts) + managing(texts, token)
  return htmlPage(200, language, texts.askTitle, body)
}

export function donePage({ language, texts }: LocalTexts, token: string | null): HandlerResult {
  return htmlPage(200, language, texts.doneTitle, paragraph(texts.doneText) + managing(texts, token))
}

export function incompletePage({ language, texts }: LocalTexts): HandlerResult {
  return htmlPage(400, language, texts.askTitle, paragraph(texts.confirm) + form(texts))
}

export function unknownPage({ language, texts }: LocalTexts): HandlerResult {
  return htmlPage(404, language, texts.unknownTitle, paragraph(texts.unknownText))
}
