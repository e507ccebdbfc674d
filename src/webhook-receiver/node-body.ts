import type { IncomingMessage } from 'node:http'
import { alreadyRead, boundedBody, collectBody, isRaw } from './body.ts'

/** What parsers of the host application have left of a body, wherever the framework keeps it. */
export interface ParsedBody {
  readonly body?: unknown
  /** The body as it came, kept beside the parsed one by some parsers and hosts. */
  readonly rawBody?: unknown
}

/**
 * The body of a request of node:http as it came.
 *
 * @throws NotifierError `invalid_configuration` when a parser has consumed it
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
