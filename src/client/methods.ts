import type { List } from '../core/records/list.ts'
import { CarillonError } from './error.ts'
import type { Operation, Operations } from './operations.ts'
import type { CallOptions, Outgoing, Send } from './request.ts'
import type { KeyedCallOptions } from './types.ts'

export type Fields = Readonly<Record<string, unknown>>
export type Method = (...input: unknown[]) => Promise<unknown>

/** The methods of operations, for an organization; `*`: for all. */
export function methodsOf(operations: Operations, send: Send, organizationId?: string): object {
  return Object.fromEntries(
    Object.entries(operations).map(([name, each]) => [
      name,
      typeof each === 'string' ? methodOf(each, send, organizationId) : methodsOf(each, send, organizationId),
    ]),
  )
}

function methodOf(operation: Operation, send: Send, organizationId: string | undefined): Method {
  const [method = '', path = '', ...words] = operation.split(' ')
  const has = (word: string): boolean => words.includes(word)
  const read = { method, path, has }

  async function call(input: readonly unknown[], more?: Fields): Promise<unknown> {
    const [outgoing, options] = requestOf(read, input, { ...more, orgId: organizationId })
    const { body, headers } = await send(outgoing, options)
    if (has('void')) return
    return has('key') ? { ...body, replayed: headers.get('idempotent-replayed') === 'true' } : body
  }

  if (!has('list')) return (...input) => call(input)
  return (...input) => {
    const first = call(input) as Promise<List<unknown>>
    return Object.assign(first, {
      async *[Symbol.asyncIterator]() {
        let page = await first
        yield* page.items
        while (page.nextCursor !== null) {
          page = (await call(input, { cursor: page.nextCursor, offset: undefined })) as List<unknown>
          yield* page.items
        }
      },
    })
  }
}

interface ReadOperation {
  readonly method: string
  readonly path: string
  readonly has: (word: string) => boolean
}

/** The request of a call, and its options. */
function requestOf(
  { method, path, has }: ReadOperation,
  given: readonly unknown[],
  more: Fields,
): [Outgoing, CallOptions | undefined] {
  const input = [...given]
  const filled = path.replace(/\{\w+\}/g, () => segment(input.shift()))
  const query = has('query') || has('list') ? (input.shift() as Fields | undefined) : {}
  const body = has('body') || has('bytes') ? input.shift() : undefined
  const options = input.shift() as KeyedCallOptions | undefined
  const [content, contentType] = has('bytes') ? fileOf(body as File) : jsonOf(body)
  return [
    {
      method,
      path: filled + queryText({ ...query, ...more }),
      headers: {
        ...(contentType && { 'content-type': contentType }),
        ...(has('test') && { 'x-test-mode': 'true' }),
        ...(has('key') && { 'idempotency-key': options?.idempotencyKey ?? randomKey() }),
      },
      body: content,
      isLines: has('lines'),
      repeatable: has('key') || has('safe') || (method !== 'POST' && method !== 'PATCH'),
    },
    options,
  ]
}

/** Part of a path. URLs read dots as steps, and without it the path is that of a list. */
function segment(value: unknown): string {
  const text = String(value ?? '')
  if (!/^\.{0,2}$/.test(text)) return encodeURIComponent(text)
  throw new CarillonError('invalid_parameter', { message: `An id or name must not be "${text}".` })
}

function queryText(query: Fields): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue
    if (value instanceof Date) parameters.set(name, value.toISOString())
    else if (typeof value !== 'object' || Array.isArray(value)) parameters.set(name, String(value))
    else
      for (const [key, each] of Object.entries(value ?? {})) parameters.set(`${name}[${key}]`, String(each))
  }
  const text = String(parameters)
  return text && `?${text}`
}

type Body = readonly [content: Outgoing['body'], contentType?: string]

interface File {
  readonly content: Outgoing['body']
  readonly contentType: string
}

function fileOf({ content, contentType }: File): Body {
  const bytes =
    typeof content === 'string' ? Uint8Array.from(atob(content), (each) => each.charCodeAt(0)) : content
  return [bytes, contentType]
}

function jsonOf(body: unknown): Body {
  return body === undefined ? [undefined] : [JSON.stringify(body, withBase64), 'application/json']
}

/** Bytes as base64, whatever `toJSON` of a Buffer makes of them. */
function withBase64(this: Fields, name: string, value: unknown): unknown {
  const given = this[name]
  if (!(given instanceof Uint8Array || given instanceof ArrayBuffer)) return value
  return btoa(Array.from(new Uint8Array(given), (byte) => String.fromCharCode(byte)).join(''))
}

function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
