import { isIP } from 'node:net'
import { NotifierError } from '../../src/core/errors/notifier-error.ts'
import { VERSION } from '../../src/core/lifecycle/version.ts'
import type { HttpRequest, HttpResponse } from '../../src/core/rest/message.ts'
import type { HandlerResult } from '../../src/core/rest/route.ts'
import { assetResponse } from '../../src/dashboard/assets.ts'
import { previewPage } from '../../src/dashboard/preview.ts'
import { createRefusals } from '../../src/dashboard/refusal.ts'
import { isSameOrigin } from '../../src/dashboard/same-origin.ts'
import { createShell } from '../../src/dashboard/shell.ts'
import { acceptsScheme } from '../../src/http/client.ts'
import { readForm } from '../../src/http/json-body.ts'
import { resolveHttpOptions } from '../../src/http/options.ts'
import type { ServingInternals } from '../../src/rest-api.ts'
import { mailOf, sourceOf } from './mail.ts'
import type { Entry, Store } from './store.ts'
import { filesOf, rowOf, viewOf } from './view.ts'

const IMAGE = /^image\/(?:png|jpeg|gif|webp|avif)$/i
/** Most characters of the images in a page: one image may occur in it many times. */
const MOST_IMAGES = 32 * 1024 * 1024

/** The HTML of a message as the dashboard shows it, with the images that the mail brings along. */
function pageOf(entry: Entry, scheme: 'light' | 'dark'): HandlerResult {
  const images = new Map(
    filesOf(entry).flatMap(({ cid, contentType, content }) =>
      cid === null || !IMAGE.test(contentType) ? [] : [[cid, { contentType, content }]],
    ),
  )
  let left = MOST_IMAGES
  const html = entry.caught.message.body.replace(/\bcid:([^\s"'<>)]{1,300})/gi, (whole, cid: string) => {
    const image = images.get(cid)
    if (image === undefined || image.content.byteLength * 1.4 > left) return whole
    left -= image.content.byteLength * 1.4
    return `data:${image.contentType};base64,${Buffer.from(image.content).toString('base64')}`
  })
  return previewPage(html, scheme)
}

const ROWS = 50
const FORM = { bytes: 4_096, timeoutMs: 10_000 }
const JSON_TYPE = 'application/json; charset=utf-8'

/** Serves the pages of the mailbox, and what they ask for. Nothing here fetches what a message names. */
export function createServer(store: Store, allowRemote: boolean): ServingInternals {
  const shell = createShell({ title: 'Mailbox', entry: 'mailbox', data: {} })
  const refuse = createRefusals()

  function entryOf(id = ''): Entry {
    const entry = store.find(id)
    if (entry === undefined) {
      throw new NotifierError('not_found', {
        message: 'The mailbox does not have this message any more. It keeps the newest ones.',
      })
    }
    return entry
  }

  function list(query: URLSearchParams): HttpResponse {
    const found = foundBy(query)
    const from = Math.max(0, placeOf(query.get('cursor'), found))
    const items = found.slice(from, from + ROWS).map(rowOf)
    const next = found[from + ROWS]
    return json({ items, hasMore: next !== undefined, nextCursor: next?.caught.id ?? null })
  }

  function foundBy(query: URLSearchParams): readonly Entry[] {
    return store.entries().filter((entry) => isFound(entry, query))
  }

  /** The messages before and after one in the list that the query makes. */
  function neighbours(id: string, query: URLSearchParams): HttpResponse {
    const found = foundBy(query)
    const at = placeOf(id, found)
    const idAt = (place: number): string | null => found[place]?.caught.id ?? null
    return json(
      at === -1
        ? { newer: null, older: null, place: null, count: found.length }
        : { newer: idAt(at - 1), older: idAt(at + 1), place: at + 1, count: found.length },
    )
  }

  function channels(): HttpResponse {
    const names = new Set(store.entries().map(({ caught: { channel } }) => channel))
    return json({ channels: [...names].sort() })
  }

  async function source({ caught, idempotencyKey }: Entry): Promise<HttpResponse> {
    const content = caught.channel === 'email' ? mailOf(caught.message, idempotencyKey) : null
    if (content === null) throw new NotifierError('not_found')
    return json({ source: await sourceOf(content) })
  }

  function file(entry: Entry, index: string): HttpResponse {
    const found = filesOf(entry)[Number(index)]
    if (found === undefined) throw new NotifierError('not_found')
    // Nothing that a mail brings along is shown by the browser.
    return answer('application/octet-stream', Buffer.from(found.content), {
      'Content-Disposition': `attachment; filename*=UTF-8''${encoded(found.filename)}`,
      'Content-Security-Policy': "sandbox; default-src 'none'",
    })
  }

  async function preview(request: HttpRequest): Promise<HttpResponse> {
    const fields = new URLSearchParams(Buffer.from(await readForm(request, FORM)).toString())
    const scheme = fields.get('scheme') === 'dark' ? 'dark' : 'light'
    const { text, headers } = pageOf(entryOf(fields.get('message') ?? ''), scheme)
    return answer(text?.contentType ?? JSON_TYPE, text?.content ?? '', headers)
  }

  async function respond(request: HttpRequest, path: string): Promise<HttpResponse> {
    const { method } = request
    if (method === 'POST' && path === '/preview') return preview(request)
    if (method === 'DELETE' && path === '/api/messages') {
      store.clear()
      return json({ cleared: true })
    }
    if (method !== 'GET' && method !== 'HEAD') throw new NotifierError('not_found')
    const asset = /^\/assets\/([\w.-]+)$/.exec(path)?.[1]
    const found = asset === undefined ? await data(path, request) : assetResponse(asset, request)
    if (found === null) throw new NotifierError('not_found')
    return method === 'HEAD' ? { ...found, body: null } : found
  }

  function data(path: string, request: HttpRequest): HttpResponse | Promise<HttpResponse> | null {
    const query = new URLSearchParams(request.query)
    if (path === '/api/messages') return list(query)
    if (path === '/api/channels') return channels()
    return ofMessage(path, query) ?? (path.startsWith('/api/') ? null : shell(request, request.encrypted))
  }

  function ofMessage(path: string, query: URLSearchParams): HttpResponse | Promise<HttpResponse> | null {
    const [, id, rest] = /^\/api\/messages\/(\d+)(?:\/(source|neighbours|files\/\d+))?$/.exec(path) ?? []
    if (id === undefined) return null
    if (rest === undefined) return json(viewOf(entryOf(id)))
    if (rest === 'neighbours') return neighbours(id, query)
    return rest === 'source' ? source(entryOf(id)) : file(entryOf(id), rest.slice('files/'.length))
  }

  return {
    version: VERSION,
    serve(options) {
      resolveHttpOptions(options)
      return {
        families: null,
        async handle(request) {
          try {
            if (!allowRemote) assertLocal(request)
            if (!isSameOrigin(request)) throw new NotifierError('cross_site_request')
            return await respond(request, request.path)
          } catch (error) {
            return refuse(error)
          }
        },
      }
    },
  }
}

/** Another site can point its own name to this machine, and could then read the mailbox in the browser. */
function assertLocal(request: HttpRequest): void {
  const isLoopback = acceptsScheme('allow-loopback', { address: null, secure: false }, request)
  const host = request.header('host') ?? ''
  const name = URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : ''
  const isName =
    name === 'localhost' || name.endsWith('.localhost') || isIP(name.replace(/^\[|\]$/g, '')) !== 0
  if (isLoopback && isName) return
  throw new NotifierError('ip_not_allowed', {
    message: isLoopback
      ? 'The mailbox answers requests for localhost alone. To open it under another name, set its option allowRemote: true.'
      : 'The mailbox answers this machine alone, without proxies. Behind a proxy or in a container, set its option allowRemote: true.',
  })
}

/** Whether a message has every word of the search and is of the channel, as far as the query names them. */
function isFound({ caught, searched }: Entry, query: URLSearchParams): boolean {
  const channel = query.get('channel') ?? ''
  const words = (query.get('search') ?? '').toLowerCase().split(/\s+/)
  return (channel === '' || caught.channel === channel) && words.every((word) => searched.includes(word))
}

function placeOf(id: string | null, entries: readonly Entry[]): number {
  return entries.findIndex(({ caught }) => caught.id === id)
}

function json(body: unknown): HttpResponse {
  return answer(JSON_TYPE, JSON.stringify(body))
}

function answer(
  contentType: string,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  return {
    status: 200,
    headers: {
      'Content-Type': contentType,
      'Content-Length': String(Buffer.byteLength(body)),
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      ...headers,
    },
    body,
  }
}

/** A value of RFC 5987. */
function encoded(filename: string): string {
  // Lone surrogates become replacement characters.
  return encodeURIComponent(Buffer.from(filename).toString()).replace(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16)}`,
  )
}
