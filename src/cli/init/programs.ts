import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DATA_IGNORED } from '../dev/kept.ts'
import type { FrameworkName, Project } from './project.ts'

/** A file of a new project. */
export interface NewFile {
  /** From the folder of the project, with slashes. */
  readonly path: string
  readonly text: string
}

export interface Program {
  readonly files: readonly NewFile[]
  /** Packages that the files import. */
  readonly packages: readonly string[]
  /** The command that runs it, after that of the package manager for binaries where `binary` is true. */
  readonly run: { readonly command: string; readonly binary: boolean }
}

/** The language of the files. */
interface Language {
  /** Ending of the files. */
  readonly ending: 'ts' | 'mjs'
  /** A text in TypeScript, nothing in JavaScript. */
  typed(text: string): string
}

/** The configuration, and a program that serves it on the framework of the project. */
export function programFor(project: Project): Program {
  const { framework } = project
  const ending = runsTypeScript(project) ? 'ts' : 'mjs'
  const language: Language = { ending, typed: (text) => (ending === 'ts' ? text : '') }
  const data = { path: '.carillon/.gitignore', text: DATA_IGNORED }
  if (framework === 'Next.js') {
    const files = [
      { path: 'carillon.config.mjs', text: NEXT_CONFIGURATION },
      { path: 'carillon.server.mjs', text: NEXT_SERVER },
      ...nextRoutes(project),
      data,
    ]
    return { files, packages: ['next'], run: { command: 'next dev -H localhost', binary: true } }
  }
  const { packages, text } = SERVERS[framework]
  const config = { path: `carillon.config.${ending}`, text: CONFIGURATION }
  const server = { path: `carillon.server.${ending}`, text: text(language) }
  return { files: [config, server, data], packages, run: { command: `node ${server.path}`, binary: false } }
}

/**
 * Whether Node.js loads TypeScript of the project as ES modules. Nest compiles every such file, which would move the rest of
 * its output, and Next.js imports without the ending that Node.js needs.
 */
function runsTypeScript({ typescript, esm, framework }: Project): boolean {
  if (!typescript || !esm || framework === 'NestJS' || framework === 'Next.js') return false
  return process.features.typescript !== false
}

const CONFIGURATION = `// The notifier of this project, for its programs and for "npx carillon".
import { createNotifier } from 'carillon'
import { devMailbox } from 'carillon/dev-mailbox'
import { sqlite } from 'carillon/sqlite'

// Catches all messages in development, and refuses to work in production: before that, give "channels" your providers,
// such as smtp() of 'carillon/smtp', with secrets from environment variables.
export const mailbox = devMailbox()

export default createNotifier({
  storage: sqlite({ file: '.carillon/notifications.db' }),
  channels: mailbox.channels,
})
`

/** "next build" loads it as in production. */
const NEXT_CONFIGURATION = `// The notifier of this project, for its routes and for "npx carillon".
import { createNotifier } from 'carillon'
import { devMailbox } from 'carillon/dev-mailbox'
import { sqlite } from 'carillon/sqlite'

// Catches all messages in development. Next.js does not name the client, so all its clients may read them: run it with
// "-H localhost". In production, give "channels" your providers, such as smtp() of 'carillon/smtp', with secrets from
// environment variables.
export const mailbox = process.env.NODE_ENV === 'production' ? null : devMailbox({ allowRemote: true })

export default createNotifier({
  storage: sqlite({ file: '.carillon/notifications.db' }),
  channels: mailbox?.channels ?? {},
})
`

const LISTENING = `console.log(\`Dashboard: http://localhost:\${port}/dashboard  Mailbox: http://localhost:\${port}/mailbox\`)`

const PORT = 'const port = Number(process.env.PORT ?? 3000)'

function onSignal(stop: string): string {
  return `for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => ${stop})`
}

const STOP = onSignal('server.close(() => notifier.stop())')

interface ServerProgram {
  readonly packages: readonly string[]
  text(language: Language): string
}

const SERVERS: Readonly<Record<Exclude<FrameworkName, 'Next.js'>, ServerProgram>> = {
  Express: {
    packages: ['express'],
    text: ({ ending }) => `import { dashboard } from 'carillon/dashboard'
import { notifierRouter } from 'carillon/express'
import express from 'express'
import notifier, { mailbox } from './carillon.config.${ending}'

const app = express()
app.use('/notifications', notifierRouter(notifier, { https: 'allow-loopback' }))
app.use('/dashboard', notifierRouter(dashboard(notifier), { https: 'allow-loopback' }))
app.use('/mailbox', notifierRouter(mailbox))

await notifier.start()
${PORT}
const server = app.listen(port)
${LISTENING}
${STOP}
`,
  },
  Fastify: {
    packages: ['fastify'],
    text: ({ ending }) => `import { dashboard } from 'carillon/dashboard'
import { notifierPlugin } from 'carillon/fastify'
import Fastify from 'fastify'
import notifier, { mailbox } from './carillon.config.${ending}'

const app = Fastify()
app.register(notifierPlugin(notifier, { https: 'allow-loopback' }), { prefix: '/notifications' })
app.register(notifierPlugin(dashboard(notifier), { https: 'allow-loopback' }), { prefix: '/dashboard' })
app.register(notifierPlugin(mailbox), { prefix: '/mailbox' })
app.addHook('onClose', () => notifier.stop())

await notifier.start()
${PORT}
await app.listen({ port })
${LISTENING}
${onSignal('app.close()')}
`,
  },
  Koa: {
    packages: ['koa'],
    text: ({ ending }) => `import { dashboard } from 'carillon/dashboard'
import { notifierMiddleware } from 'carillon/koa'
import Koa from 'koa'
import notifier, { mailbox } from './carillon.config.${ending}'

const app = new Koa()
app.use(notifierMiddleware(notifier, { prefix: '/notifications', https: 'allow-loopback' }))
app.use(notifierMiddleware(dashboard(notifier), { prefix: '/dashboard', https: 'allow-loopback' }))
app.use(notifierMiddleware(mailbox, { prefix: '/mailbox' }))

await notifier.start()
${PORT}
const server = app.listen(port)
${LISTENING}
${STOP}
`,
  },
  Hono: {
    packages: ['hono', '@hono/node-server'],
    text: ({ ending, typed }) => `import { ${typed('type HttpBindings, ')}serve } from '@hono/node-server'
import { dashboard } from 'carillon/dashboard'
import { notifierFetch } from 'carillon/fetch'
import { Hono } from 'hono'
import notifier, { mailbox } from './carillon.config.${ending}'

const app = new Hono${typed('<{ Bindings: HttpBindings }>')}()
const mounted = { '/notifications': notifier, '/dashboard': dashboard(notifier), '/mailbox': mailbox }
for (const [prefix, served] of Object.entries(mounted)) {
  const answer = notifierFetch(served, { prefix, https: 'allow-loopback' })
  app.all(\`\${prefix}/*\`, async (context) => {
    const { remoteAddress } = context.env.incoming.socket
    return (await answer(context.req.raw, { remoteAddress, encrypted: false })) ?? context.notFound()
  })
}

await notifier.start()
${PORT}
const server = serve({ fetch: app.fetch, port })
${LISTENING}
${STOP}
`,
  },
  NestJS: {
    packages: ['@nestjs/common', '@nestjs/core', 'reflect-metadata'],
    text: ({ ending }) => `import 'reflect-metadata'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { dashboard } from 'carillon/dashboard'
import { notifierRouter } from 'carillon/express'
import notifier, { mailbox } from './carillon.config.${ending}'

// In place of the module of your application.
class AppModule {}
Module({})(AppModule)

const app = await NestFactory.create(AppModule)
app.use('/notifications', notifierRouter(notifier, { https: 'allow-loopback' }))
app.use('/dashboard', notifierRouter(dashboard(notifier), { https: 'allow-loopback' }))
app.use('/mailbox', notifierRouter(mailbox))

await notifier.start()
${PORT}
await app.listen(port)
${LISTENING}
${onSignal('app.close().then(() => notifier.stop())')}
`,
  },
  'Node.js': {
    packages: [],
    text: ({ ending }) => `import { createServer } from 'node:http'
import { dashboard } from 'carillon/dashboard'
import { notifierHandler } from 'carillon/node'
import notifier, { mailbox } from './carillon.config.${ending}'

const api = notifierHandler(notifier, { prefix: '/notifications', https: 'allow-loopback' })
const pages = notifierHandler(dashboard(notifier), { prefix: '/dashboard', https: 'allow-loopback' })
const mails = notifierHandler(mailbox, { prefix: '/mailbox' })
const server = createServer((request, response) => {
  api(request, response, () => pages(request, response, () => mails(request, response)))
})

await notifier.start()
${PORT}
server.listen(port)
${LISTENING}
${STOP}
`,
  },
}

const NEXT_SERVER = `import { dashboard } from 'carillon/dashboard'
import { notifierFetch } from 'carillon/fetch'
import notifier, { mailbox } from './carillon.config.mjs'

const https = process.env.NODE_ENV === 'development' ? 'off' : 'require'
const connection = { remoteAddress: '127.0.0.1', encrypted: false }

async function start() {
  await notifier.start()
  const mounted = { '/notifications': notifier, '/dashboard': dashboard(notifier) }
  if (mailbox !== null) Object.assign(mounted, { '/mailbox': mailbox })
  return Object.entries(mounted).map(([prefix, served]) =>
    notifierFetch(served, { prefix, https, trustedProxies: ['loopback'] }),
  )
}

/**
 * Answers requests of the routes.
 *
 * @param {Request} request
 * @returns {Promise<Response>}
 */
export async function answer(request) {
  // Modules of Next.js may exist twice in a process. After a failed start, the next request tries again.
  globalThis.carillonHandlers ??= start().catch((error) => {
    globalThis.carillonHandlers = undefined
    throw error
  })
  for (const handle of await globalThis.carillonHandlers) {
    const response = await handle(request, connection)
    if (response !== null) return response
  }
  return new Response('Not Found', { status: 404 })
}
`

function nextRoutes({ folder, typescript }: Project): NewFile[] {
  const below = !existsSync(join(folder, 'app')) && existsSync(join(folder, 'src')) ? 'src/app' : 'app'
  const up = '../'.repeat(below.split('/').length + 2)
  return ['notifications', 'dashboard', 'mailbox'].map((name) => ({
    path: `${below}/${name}/[[...path]]/route.${typescript ? 'ts' : 'js'}`,
    text: `export {
  answer as DELETE,
  answer as GET,
  answer as PATCH,
  answer as POST,
  answer as PUT,
} from '${up}carillon.server.mjs'
`,
  }))
}
