import { NotifierError } from '../../src/domain/errors/notifier-error.ts'
import type { HttpApiOptions } from '../../src/http/options.ts'

/** Options of an adapter whose host does not cut the prefix off itself. */
export interface MountOptions extends HttpApiOptions {
  /** Path under which the API is served, as `/notifications`. @default '' (the root) */
  readonly prefix?: string | undefined
}

/** What the API is given, and how a URL is cut; what is no object is for the API to refuse. */
export function mountOf(options: MountOptions): {
  readonly http: HttpApiOptions
  readonly belowPrefix: (url: string) => string | null
} {
  if (typeof options !== 'object' || options === null) return { http: options, belowPrefix: cutPrefix() }
  const { prefix, ...http } = options
  return { http, belowPrefix: cutPrefix(prefix) }
}

/** The form `GET http://host/path` is legal; everything before the path is dropped. */
export function withoutOrigin(url: string): string {
  if (url.startsWith('/')) return url
  const rest = url.replace(/^[^/?#]*:\/\/[^/?#]*/, '')
  return rest.startsWith('/') ? rest : `/${rest}`
}

/**
 * Gives a function that cuts a prefix off a URL, and null for a URL that is not below it. Compared as it is written:
 * neither is decoded.
 *
 * @throws NotifierError `invalid_configuration`
 */
function cutPrefix(prefix = ''): (url: string) => string | null {
  if (typeof prefix !== 'string' || !/^(?:\/[^/?#\s]+)*\/?$/.test(prefix)) {
    throw new NotifierError('invalid_configuration', {
      message: 'The option "prefix" must be a path that begins with a slash, as "/notifications".',
      details: { option: 'prefix' },
    })
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
