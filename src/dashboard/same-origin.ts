import type { HttpRequest } from '../core/rest/message.ts'

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * True for requests of a page of this origin, and for requests that change nothing. Browsers state the relation in
 * `Sec-Fetch-Site`, and where they leave it out, as over plain HTTP, in `Origin`
 * (https://web.dev/articles/fetch-metadata).
 */
export function isSameOrigin(request: HttpRequest): boolean {
  if (SAFE.has(request.method)) return true
  const relation = request.header('sec-fetch-site')
  if (relation !== undefined) return relation === 'same-origin'
  const origin = request.header('origin')
  const host = request.header('host')
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return false
  return new URL(origin).host === host.toLowerCase()
}
