import { invalidOption } from '../../src/core/errors/invalid-option.ts'
import type { HttpApiOptions } from '../../src/http/options.ts'

/** Options for adapters whose host does not remove the prefix itself. */
export interface MountOptions extends HttpApiOptions {
  /** Path under which the API is served, for example `/notifications`. @default '' (the root) */
  readonly prefix?: string | undefined
}

/** Splits the options into those of the API and the prefix. The API refuses options that are not an object. */
export function mountOf(options: MountOptions): {
  readonly http: HttpApiOptions
  readonly belowPrefix: (url: string) => string | null
} {
  if (typeof options !== 'object' || options === null) return { http: options, belowPrefix: cutPrefix() }
  const { prefix, ...http } = options
  return { http, belowPrefix: cutPrefix(prefix) }
}

/** `GET http://host/path` is valid HTTP, so everything before the path is dropped. */
export function withoutOrigin(url: string): string {
  if (url.startsWith('/')) return url
  const rest = url.replace(/^[^/?#]*:\/\/[^/?#]*/, '')
  return rest.startsWith('/') ? rest : `/${rest}`
}

/**
 * Returns a function that removes a prefix from a URL; null: the URL is not below the prefix. Neither is decoded before
 * the comparison.
 *
 * @throws NotifierError `invalid_configuration`
 */
function cutPrefix(prefix = ''): (url: string) => string | null {
  if (typeof prefix !== 'string' || !/^(?:\/[^/?#\s]+)*\/?$/.test(prefix)) {
    const message = 'The option "prefix" must be a path that begins with a slash, such as "/notifications".'
    throw invalidOption('prefix', message)
  }
  const start = prefix.endsWith('/') ? prefix.slice(0, -1) : prefix
  return function belowPrefix(url) {
    const path = withoutOrigin(url)
    if (start === '') return path
    if (!path.startsWith(start)) return null
    const rest = path.slice(start.length)
    if (rest.startsWith('/')) return rest
    return rest === '' || rest.startsWith('?') ? `/${rest}` : null
  }
}
