import { createServer } from 'node:http'
import type express from 'express'
import { notifierRouter } from '../../../adapters/http/express.ts'
import { EXPRESS } from '../express-host.ts'
import { type Harness, listen } from './harness.ts'

export const expressHarnesses: readonly Harness[] = EXPRESS.map(([name, framework]) => ({
  name,
  parserReads: true,
  start({ notifier, prefix, parser, http, errors }) {
    const app = framework()
    app.use((_req, res, next) => {
      res.setHeader('X-Host', 'yes')
      next()
    })
    if (parser === 'before') app.use(framework.json())
    app.get('/host', (_req, res) => {
      res.json({ host: true })
    })
    app.use(prefix === '' ? '/' : prefix, notifierRouter(notifier, http))
    if (parser === 'after') app.use(framework.json())
    app.post('/host/echo', framework.json(), (req, res) => {
      res.json({ echo: req.body })
    })
    app.get('/host/fails', () => {
      throw new Error('the host failed')
    })
    app.use((_req, res) => {
      res.status(404).json({ hostMissing: true })
    })
    app.use(((error, _req, res, _next) => {
      errors.push(error)
      res.status(500).json({ hostError: true })
    }) satisfies express.ErrorRequestHandler)
    return listen(createServer(app))
  },
}))
