import type { IncomingMessage } from 'node:http'
import { alreadyRead, boundedBody, collectBody, isRaw } from './body.ts'

/** The results of the application's body parsers, in any framework. */
export interface ParsedBody {
  readonly body?: unknown
  /** The raw body, which some parsers and hosts keep with the parsed one. */
  readonly rawBody?: unknown
}

/**
 * The raw body of a node:http request.
 *
 * @throws NotifierError `body_already_read` if a parser has consumed it and kept no bytes
 */
export async function readNodeBody(
  req: IncomingMessage,
  { body, rawBody }: ParsedBody,
  limit: number,
  remedy: string,
): Promise<string | Uint8Array> {
  if (isRaw(rawBody)) return boundedBody(rawBody, limit)
  if (!req.readableDidRead) {
    const chunks = req.iterator({ destroyOnReturn: false })
    return collectBody(chunks, limit, req.headers['content-length'])
  }
  if (isRaw(body)) return boundedBody(body, limit)
  throw alreadyRead(remedy)
}
