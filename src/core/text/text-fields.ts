import type * as z from 'zod'
import type { GivenText } from './message-text.ts'

/** Refuses a `body` or `format` together with `html` or `text`. */
export function assertOneText({ value, issues }: z.core.ParsePayload<GivenText>): void {
  const { body, html, text, format } = value
  if (html == null && text == null) return
  const refuse = (field: string, message: string): void =>
    void issues.push({ code: 'custom', input: value, path: [field], message })
  if (body != null) {
    refuse(html == null ? 'text' : 'html', 'give "html", "text" or both without a "body", or a "body" alone')
  } else if (format != null) refuse('format', 'applies to a "body" only: "html" and "text" have a format')
}
