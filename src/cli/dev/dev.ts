import { once } from 'node:events'
import { watch } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, isIPv6 } from 'node:net'
import { dirname, join, relative, resolve } from 'node:path'
import type { Run } from '../command.ts'
import { findConfiguration } from '../connect.ts'
import { Exit, failureOf, usage } from '../exit.ts'
import { interruptible, note, print, styled, type Terminal } from '../terminal.ts'
import { keptFolder } from './kept.ts'
import { type DevelopmentService, openService, type Places } from './service.ts'

/** Editors write a file in several steps. */
const SETTLED_MS = 100

export const dev: Run = async ({ terminal, flags }) => {
  const { cwd, signal } = terminal
  const server = createServer().on('request', starting)
  const host = flags.text('host') ?? '127.0.0.1'
  await listen(server, host, portOf(flags.text('port') ?? '4000'))
  try {
    const given = flags.text('config')
    const config = given === undefined ? findConfiguration(cwd) : resolve(cwd, given)
    const templates = flags.text('templates')
    const places = {
      url: urlOf(server, host),
      isLocal: isLocal(server),
      config,
      folder: keptFolder(join(config === null ? cwd : dirname(config), '.carillon')),
      templates: templates === undefined ? null : resolve(cwd, templates),
      forwardTo: flags.text('forward-to') ?? null,
    }
    const service = await interruptible(openService(terminal, places), terminal)
    try {
      server.off('request', starting).on('request', service.answer)
      await (flags.on('json')
        ? print(terminal, JSON.stringify(await service.links()))
        : show(terminal, service, places))
      const unwatch = reloading(terminal, service, places)
      if (!signal.aborted) await once(signal, 'abort')
      unwatch()
    } finally {
      await service.stop()
    }
  } finally {
    server.close()
    server.closeAllConnections()
  }
  return undefined
}

/** Dashboards that are still open ask during the start. */
const starting: RequestListener = (_, response) => {
  response.writeHead(503, { 'Retry-After': '1' }).end()
}

function portOf(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw usage(`--port must be a whole number from 0 to 65535, not "${text}". 0 takes any free port.`)
}

/** @throws Exit `configuration` */
async function listen(server: Server, host: string, port: number): Promise<void> {
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    const why = {
      EADDRINUSE: `Another program has port ${port}. Stop it, or take a free port: carillon dev --port 0.`,
      EACCES: `Port ${port} needs privileges. Take one above 1023: carillon dev --port 4000.`,
      EADDRNOTAVAIL: `This machine has no address ${host}. Leave out "--host" for this machine alone.`,
    }[code]
    throw new Exit('configuration', why ?? `Cannot listen on ${host}:${port}: ${message}`, error)
  }
}

function urlOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo
  if (host === '0.0.0.0' || host === '::') return `http://localhost:${port}`
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`
}

function isLocal(server: Server): boolean {
  return /^(?:127\.|::1$)/.test((server.address() as AddressInfo).address)
}

async function show(terminal: Terminal, service: DevelopmentService, places: Places): Promise<void> {
  const { dashboard, mailbox, api, apiKey, webhookSecret } = await service.links()
  const title = (text: string): string => styled('bold', text.padEnd(10), terminal.stdout)
  const { url, config, folder, isLocal, forwardTo, templates } = places
  const lines = [
    `${title('Dashboard')} ${dashboard}`,
    `${title('')} The link signs in once, within ten minutes.`,
    `${title('Mailbox')} ${mailbox}`,
    `${title('REST API')} ${api}`,
    `${title('API key')} ${apiKey}`,
    ...(forwardTo === null
      ? []
      : [`${title('Events')} to ${forwardTo}`, `${title('Secret')} ${webhookSecret}`]),
    '',
    `curl ${api}/v1/notify -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '{"channel":"email","to":"ada@example.com","subject":"Hello","text":"Hi Ada"}'`,
    '',
  ]
  for (const line of lines) await print(terminal, line)
  const near = (path: string): string => relative(terminal.cwd, path) || '.'
  note(
    terminal,
    'Nothing is delivered: the mailbox catches all channels, and recipients such as bounced@simulator.example fail.',
  )
  note(
    terminal,
    config === null
      ? `There is no configuration. Data: ${near(folder.database)}.`
      : `Options of ${near(config)}, without its storage and providers. Data: ${near(folder.database)}.`,
  )
  if (templates !== null)
    note(terminal, `Templates are read from ${near(templates)} whenever a file changes.`)
  if (!isLocal)
    note(
      terminal,
      styled('yellow', `Every machine that reaches ${url} can read the mailbox.`, terminal.stderr),
    )
  note(terminal, 'Ctrl+C stops it.')
}

/** Reloads the templates when a file changes. */
function reloading(terminal: Terminal, service: DevelopmentService, { templates }: Places): () => void {
  if (templates === null) return () => {}
  let timer: NodeJS.Timeout | undefined
  const watcher = watch(templates, { recursive: true }, () => {
    clearTimeout(timer)
    timer = setTimeout(reload, SETTLED_MS)
  })
  watcher.on('error', (error) =>
    note(terminal, `Changes of templates go unnoticed from now on: ${error.message}. Start again.`),
  )

  function reload(): void {
    service.reload().then(
      () => note(terminal, 'Templates reloaded.'),
      (error) =>
        note(
          terminal,
          `${styled('red', 'Templates not reloaded:', terminal.stderr)} ${failureOf(error).message}`,
        ),
    )
  }

  return () => {
    clearTimeout(timer)
    watcher.close()
  }
}
