import { childrenOf, type Field, parseSource, type Token } from '../../src/domain/template/parse.ts'

/** Values by name. Without a prototype, so that no name can collide with one. */
type Example = { [name: string]: unknown }

/** An object with an empty value for each placeholder of a template, to be filled in. A source that does not parse has none. */
export function placeholdersOf(source: { readonly [Name in Field]?: string | null }): Example {
  const example: Example = Object.create(null)
  for (const field of ['subject', 'body', 'html', 'text'] as const) {
    try {
      collect(parseSource(source[field] ?? '', field), example)
    } catch {
      // The server says what is wrong with it.
    }
  }
  return example
}

function collect(tokens: readonly Token[], into: Example): void {
  for (const token of tokens) {
    const [type, path] = token
    if (type === 'name' || type === '&') put(into, path.split('.'), '')
    if (type !== '#') continue
    const item: Example = Object.create(null)
    collect(childrenOf(token), item)
    put(into, path.split('.'), Object.keys(item).length === 0 ? true : [item])
  }
}

function put(into: Example, [name = '', ...deeper]: readonly string[], value: unknown): void {
  if (name === '') return
  const known = into[name]
  if (deeper.length === 0) {
    if (known === undefined || known === '') into[name] = value
    return
  }
  const inner = isObject(known) ? known : Object.create(null)
  into[name] = inner
  put(inner, deeper, value)
}

function isObject(value: unknown): value is Example {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
