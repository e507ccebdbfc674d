import Fastify, { type FastifyInstance } from 'fastify'
import { notifierPlugin } from '../../../adapters/http/fastify.ts'
import type { Harness } from './harness.ts'

export const fastifyHarness: Harness = {
  name: 'Fastify 5',
  // Parsers belong to scopes: that of Carillon has its own, wherever those of the application are added.
  parserReads: false,
  ownWays: ['bad-url', 'methods'],
  async start(mount) {
    const app = Fastify({ forceCloseConnections: true })
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('X-Host', 'yes')
    })
    if (mount.parser === 'before') addParser(app)
    app.get('/host', async () => ({ host: true }))
    app.register(notifierPlugin(mount.notifier, mount.http), { prefix: mount.prefix })
    if (mount.parser === 'after') addParser(app)
    app.post('/host/echo', async (request) => ({ echo: request.body }))
    app.get('/host/fails', async () => {
      throw new Error('the host failed')
    })
    app.setNotFoundHandler((_request, reply) => {
      reply.code(404).send({ hostMissing: true })
    })
    app.setErrorHandler((error, _request, reply) => {
      mount.errors.push(error)
      reply.code(500).send({ hostError: true })
    })
    return { url: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() }
  },
}

function addParser(app: FastifyInstance): void {
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, JSON.parse(String(body)))
    } catch (error) {
      done(error as Error)
    }
  })
}
