import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { MultiTenantNotifier } from '../notifier.ts'
import { Exit, messageOf } from './exit.ts'
import type { Parsed } from './flags.ts'
import { interruptible, type Terminal } from './terminal.ts'

/** The REST API of a notifier in this process, or of a service elsewhere. */
export interface Connection {
  /** For `fetch`, without a slash at its end. */
  readonly url: string
  readonly apiKey: string
  readonly fetch: typeof globalThis.fetch
  /** Undefined: that of the key, or the caller has to name it. */
  readonly organization: string | undefined
  /** Null: it is elsewhere. */
  readonly notifier: MultiTenantNotifier | null
  close(): Promise<void>
}

const FILES = ['ts', 'mts', 'js', 'mjs'].map((extension) => `carillon.config.${extension}`)

/** By the flags `--url`, `--config` and `--organization`. @throws Exit, NotifierError */
export async function connect(terminal: Terminal, flags: Parsed): Promise<Connection> {
  const { env } = terminal
  const organization = flags.text('organization')
  const url = flags.text('url')
  if (url === undefined) {
    const opened = loadNotifier(terminal, flags.text('config')).then((made) => direct(made, organization))
    return interruptible(opened, terminal)
  }
  if (flags.text('config') !== undefined)
    throw new Exit(
      'usage',
      'Give "--url" for a service elsewhere, or "--config" for a notifier here, not both.',
    )
  const apiKey = env.CARILLON_API_KEY
  if (!apiKey) {
    const message = 'A service elsewhere needs a key: put it in the environment variable CARILLON_API_KEY.'
    throw new Exit('configuration', message)
  }
  const { sender } = await import('../client/request.ts')
  try {
    sender({ url, apiKey })
  } catch (cause) {
    throw new Exit('configuration', `"--url" or CARILLON_API_KEY is wrong: ${messageOf(cause)}`, cause)
  }
  return {
    url: url.replace(/\/+$/, ''),
    apiKey,
    fetch: (target, init) => {
      const signal = AbortSignal.any([terminal.signal, ...(init?.signal ? [init.signal] : [])])
      return globalThis.fetch(target, { redirect: 'manual', ...init, signal })
    },
    organization,
    notifier: null,
    async close() {},
  }
}

/** The notifier that a configuration exports, not yet started. @throws Exit `configuration` */
export async function loadNotifier(
  { cwd }: Terminal,
  config: string | undefined,
): Promise<MultiTenantNotifier> {
  const file = config === undefined ? findConfiguration(cwd) : resolve(cwd, config)
  if (file === null) {
    throw new Exit(
      'configuration',
      `There is no ${FILES.join(', ')} in this folder or above it. "carillon init" writes one. Or give one with "--config", or the URL of a service with "--url".`,
    )
  }
  if (!existsSync(file)) throw new Exit('configuration', `There is no file ${file}.`)
  const made = (await exportedBy(file)) as MultiTenantNotifier
  const { servedNotifier } = await import('../served-notifier.ts')
  try {
    servedNotifier(made)
    return made
  } catch (cause) {
    const message = `The default export of ${file} must be a notifier or a function that makes one: ${messageOf(cause)}`
    throw new Exit('configuration', message, cause)
  }
}

/** The default export, or what it makes. */
async function exportedBy(file: string): Promise<unknown> {
  try {
    const { default: exported } = (await import(pathToFileURL(file).href)) as { readonly default?: unknown }
    return await (typeof exported === 'function' ? exported() : exported)
  } catch (cause) {
    const untyped = (cause as { readonly code?: unknown }).code === 'ERR_UNKNOWN_FILE_EXTENSION'
    throw new Exit(
      'configuration',
      untyped && /ts$/.test(file)
        ? `Node.js ${process.versions.node} does not load ${file}: from 22.18 on it strips types. Write the configuration as carillon.config.mjs.`
        : `${file} failed: ${messageOf(cause)}`,
      cause,
    )
  }
}

/** Names of the configurations in a folder. The first one counts. */
export function configurationsIn(folder: string): string[] {
  return FILES.filter((name) => existsSync(join(folder, name)))
}

/** The configuration in a folder or above it. Null: there is none. */
export function findConfiguration(folder: string): string | null {
  const [found] = configurationsIn(folder)
  if (found !== undefined) return join(folder, found)
  const above = dirname(folder)
  return above === folder ? null : findConfiguration(above)
}

/** Answers requests as the REST API does to an operator, without a network. */
async function direct(notifier: MultiTenantNotifier, organization: string | undefined): Promise<Connection> {
  const [
    { notifierFetch },
    { createApi },
    { ROUTES },
    { servedNotifier },
    { GRANTS },
    { DEFAULT_ORGANIZATION },
  ] = await Promise.all([
    import('../../adapters/http/fetch.ts'),
    import('../http/api.ts'),
    import('../routes.ts'),
    import('../served-notifier.ts'),
    import('../core/access/permissions.ts'),
    import('../core/tenancy/organization.ts'),
  ])
  const served = servedNotifier(notifier)
  const id = 'command line'
  const caller = {
    id,
    name: userInfo().username,
    permission: 'Full Access',
    grants: GRANTS,
    organizations: 'all',
    counted: { operatorKeyId: id },
  } as const
  const internals = {
    version: served.version,
    serve: () => createApi(served, [...ROUTES, ...served.routes], { https: 'off' }, async () => caller),
  }
  const answer = notifierFetch({ internals })
  await notifier.start({ deliver: false })
  return {
    url: 'http://localhost',
    apiKey: 'unused',
    async fetch(target, init) {
      const request = new Request(target, init)
      const response = await answer(request, { remoteAddress: undefined, encrypted: false })
      return (
        response ??
        Response.json({ error: { code: 'not_found', message: 'No such operation.' } }, { status: 404 })
      )
    },
    notifier,
    organization: organization ?? (isOfOne(notifier) ? DEFAULT_ORGANIZATION : undefined),
    close: () => notifier.stop(),
  }
}

/** With `organizations: 'required'`, a notifier refuses its own methods. */
function isOfOne(notifier: MultiTenantNotifier): boolean {
  return Object.keys(notifier).includes('send')
}
