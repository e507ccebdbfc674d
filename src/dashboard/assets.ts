import { brotliDecompressSync } from 'node:zlib'
import type { HttpRequest, HttpResponse } from '../core/rest/message.ts'
import { ASSETS, ENTRIES } from './generated/assets.ts'

/** Names of the files that the pages of an application begin with. */
export const entries: typeof ENTRIES = ENTRIES

export type Entry = keyof typeof ENTRIES

interface Asset {
  readonly type: string
  readonly brotli: Buffer
  plain?: Buffer
}

const opened = new Map<string, Asset>()

/** The file of a name with its hash; null: there is none. */
export function assetResponse(name: string, request: HttpRequest): HttpResponse | null {
  const asset = open(name)
  if (asset === null) return null
  const compressed = /\bbr\b/.test(request.header('accept-encoding') ?? '')
  const body = compressed ? asset.brotli : plainOf(asset)
  return {
    status: 200,
    headers: {
      'Content-Type': asset.type,
      'Content-Length': String(body.length),
      'Cache-Control': 'public, max-age=31536000, immutable',
      'X-Content-Type-Options': 'nosniff',
      Vary: 'Accept-Encoding',
      ...(compressed ? { 'Content-Encoding': 'br' } : {}),
    },
    body: request.method === 'HEAD' ? null : body,
  }
}

function open(name: string): Asset | null {
  const known = opened.get(name)
  if (known !== undefined) return known
  const packed = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined
  if (packed === undefined) return null
  const asset: Asset = { type: packed.type, brotli: Buffer.from(packed.brotli, 'base64') }
  opened.set(name, asset)
  return asset
}

function plainOf(asset: Asset): Buffer {
  asset.plain ??= brotliDecompressSync(asset.brotli)
  return asset.plain
}
