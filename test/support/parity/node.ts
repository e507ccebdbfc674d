import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { notifierHandler } from '../../../adapters/http/node.ts'
import { type Harness, listen } from './harness.ts'

type Request = IncomingMessage & { body?: unknown }

export const nodeHarness: Harness = {
  name: 'node:http',
  parserReads: true,
  start({ notifier, prefix, parser, http, errors }) {
    const handler = notifierHandler(notifier, { prefix, ...http })

    async function host(req: Request, res: ServerResponse): Promise<void> {
      const route = `${req.method} ${req.url}`
      if (parser !== 'before') await parse(req)
      if (route === 'GET /host') json(res, 200, { host: true })
      else if (route === 'POST /host/echo') json(res, 200, { echo: req.body })
      else if (route === 'GET /host/fails') fail(res, new Error('the host failed'))
      else json(res, 404, { hostMissing: true })
    }

    function fail(res: ServerResponse, error: unknown): void {
      errors.push(error)
      json(res, 500, { hostError: true })
    }

    return listen(
      createServer((req: Request, res) => {
        res.setHeader('X-Host', 'yes')
        const serve = (): void => handler(req, res, () => host(req, res).catch((error) => fail(res, error)))
        if (parser === 'before') {
          parse(req)
            .then(serve)
            .catch((error) => fail(res, error))
        } else serve()
      }),
    )
  },
}

/** A body parser as an application might write one: JSON only, what is read is left in `body`. */
async function parse(req: Request): Promise<void> {
  if (!req.headers['content-type']?.startsWith('application/json')) return
  const chunks: Uint8Array[] = []
  for await (const chunk of req) chunks.push(chunk)
  req.body = JSON.parse(Buffer.concat(chunks).toString() || '{}')
}

function json(res: ServerResponse, status: number, body: unknown): void {
  res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}
