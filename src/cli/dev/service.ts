import type { RequestListener } from 'node:http'
import type { NotifierHandler } from '../../../adapters/http/node.ts'
import type { Dashboard } from '../../dashboard/index.ts'
import type { MultiTenantNotifier } from '../../notifier.ts'
import type { OptionsChange } from '../../served-notifier.ts'
import { loadNotifier } from '../connect.ts'
import { note, type Terminal } from '../terminal.ts'
import { apiKeyOf, forwardingSecret, type KeptFolder, operatorKeyOf } from './kept.ts'
import { simulating } from './simulating.ts'

const API = '/notifications'
const DASHBOARD = '/dashboard'
const MAILBOX = '/mailbox'
/** Longest wait for running attempts at the end. */
const END_MS = 2_000

/** The address of the development service, and the files that it reads. */
export interface Places {
  readonly url: string
  /** Whether only this machine reaches it. */
  readonly isLocal: boolean
  /** Null: none. */
  readonly config: string | null
  readonly folder: KeptFolder
  /** Null: none. */
  readonly templates: string | null
  /** Where events go. Null: nowhere. */
  readonly forwardTo: string | null
}

export interface Links {
  /** Signs in once, within ten minutes. */
  readonly dashboard: string
  readonly mailbox: string
  readonly api: string
  readonly apiKey: string
  /** Undefined: events go nowhere. */
  readonly webhookSecret?: string | undefined
}

/** A notifier that delivers to a mailbox, with its pages and its REST API. */
export interface DevelopmentService {
  readonly answer: RequestListener
  links(): Promise<Links>
  /** Reads the templates again. If one has a fault, the earlier ones stay. */
  reload(): Promise<void>
  stop(): Promise<void>
}

interface Running {
  readonly notifier: MultiTenantNotifier<unknown>
  readonly pages: Dashboard
  readonly handlers: readonly NotifierHandler[]
}

/** @throws Exit, NotifierError */
export async function openService(terminal: Terminal, places: Places): Promise<DevelopmentService> {
  const { url, isLocal, config, folder } = places
  const [
    { createNotifier },
    { devMailbox },
    { dashboard },
    { notifierHandler },
    { sqlite },
    { readTemplates },
    { servedNotifier },
    { EVENT_TYPES },
    { DEFAULT_ORGANIZATION },
    catching,
  ] = await Promise.all([
    import('../../create-notifier.ts'),
    import('../../../adapters/dev-mailbox/index.ts'),
    import('../../dashboard/index.ts'),
    import('../../../adapters/http/node.ts'),
    import('../../../adapters/storage/sqlite/index.ts'),
    import('../../template-files/index.ts'),
    import('../../served-notifier.ts'),
    import('../../core/notification/facts.ts'),
    import('../../core/tenancy/organization.ts'),
    simulating(url + API),
  ])
  const mailbox = devMailbox({ allowRemote: !isLocal })
  const https = isLocal ? 'allow-loopback' : 'off'
  const mailboxHandler = notifierHandler(mailbox, { prefix: MAILBOX })

  async function start(): Promise<Running> {
    const texts = places.templates === null ? null : await readTemplates(places.templates)
    const configured =
      config === null ? createNotifier({ channels: {} }) : await loadNotifier(terminal, config)
    // Replaces the options that deliver, store or report elsewhere.
    const change: OptionsChange = ({ templates, layouts, partials, messages, ...options }, kinds) => ({
      ...options,
      storage: sqlite({ file: folder.database, synchronous: 'normal' }),
      channels: Object.fromEntries(kinds.map((kind) => [kind.name, catching(mailbox.provider(kind), kind)])),
      secret: undefined,
      queue: undefined,
      rateLimiter: undefined,
      telemetry: undefined,
      publicUrl: url + API,
      webhooks: { allow: ['127.0.0.0/8', '::1/128'], allowHttp: true },
      templates: { ...templates, ...texts?.templates },
      layouts: { ...layouts, ...texts?.layouts },
      partials: { ...partials, ...texts?.partials },
      messages: { ...messages, ...texts?.messages },
    })
    const notifier = servedNotifier(configured).changed(change)
    folder.create()
    notifier.on('error', (error) => note(terminal, error.message))
    try {
      await notifier.start()
    } catch (error) {
      await notifier.stop()
      throw error
    }
    const pages = dashboard(notifier, { apiUrl: API })
    const handlers = [
      notifierHandler(notifier, { prefix: API, https }),
      notifierHandler(pages, { prefix: DASHBOARD, https }),
      mailboxHandler,
    ]
    return { notifier, pages, handlers }
  }

  async function replace(): Promise<void> {
    const next = await start()
    const { notifier } = running
    running = next
    await notifier.stop({ timeoutMs: END_MS })
  }

  let running = await start()
  const tenant = running.notifier.organization(DEFAULT_ORGANIZATION)
  const apiKey = await apiKeyOf(tenant, running.notifier, folder)
  const webhookSecret = await forwardingSecret(tenant, places.forwardTo, EVENT_TYPES, folder)
  let reloads = Promise.resolve()
  return {
    answer(request, response) {
      const [last, ...before] = running.handlers.toReversed()
      const answer = before.reduce<() => void>(
        (next, handler) => () => handler(request, response, next),
        () => last?.(request, response),
      )
      if (request.url === '/') response.writeHead(302, { Location: DASHBOARD }).end()
      else answer()
    },
    async links() {
      const { notifier, pages } = running
      return {
        dashboard: await pages.signInLink(url + DASHBOARD, await operatorKeyOf(notifier)),
        mailbox: url + MAILBOX,
        api: url + API,
        apiKey,
        webhookSecret,
      }
    },
    reload() {
      const reloaded = reloads.then(replace)
      reloads = reloaded.catch(() => {})
      return reloaded
    },
    async stop() {
      await reloads
      await running.notifier.stop({ timeoutMs: END_MS })
    },
  }
}
