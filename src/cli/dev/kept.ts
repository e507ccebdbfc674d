import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { WebhookEventType } from '../../core/delivery/endpoint-health.ts'
import type { MultiTenantNotifier } from '../../notifier.ts'
import type { Tenant } from '../../tenant.ts'

/** For version control: the folder stays, its data is left out. */
export const DATA_IGNORED = '*\n!.gitignore\n'

/** Secrets of the development service that stay the same, so that programs can have them in their environment. */
interface Kept {
  readonly apiKey?: string
  readonly endpoint?: { readonly id: string; readonly secret: string }
}

/** The folder of the development service, which version control leaves out. */
export interface KeptFolder {
  readonly database: string
  create(): void
  read(): Kept
  write(kept: Kept): void
}

export function keptFolder(folder: string): KeptFolder {
  const ignored = join(folder, '.gitignore')
  const file = join(folder, 'dev.json')
  return {
    database: join(folder, 'dev.db'),
    create() {
      mkdirSync(folder, { recursive: true })
      if (!existsSync(ignored)) writeFileSync(ignored, DATA_IGNORED)
    },
    read() {
      try {
        return Object(JSON.parse(readFileSync(file, 'utf8')))
      } catch {
        // Absent or damaged: new secrets take the place of the old ones.
        return {}
      }
    },
    write: (kept) => writeFileSync(file, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 }),
  }
}

const NAME = 'carillon dev'

/** The API key of the default organization: that of earlier runs, while it works. */
export async function apiKeyOf(
  { apiKeys }: Tenant<unknown>,
  notifier: MultiTenantNotifier<unknown>,
  folder: KeptFolder,
): Promise<string> {
  const kept = folder.read()
  const works = await notifier.apiKeys.verify(kept.apiKey ?? '').then(
    () => true,
    () => false,
  )
  if (works && kept.apiKey !== undefined) return kept.apiKey
  const { secret } = await apiKeys.create({ name: NAME, permission: 'Full Access', grants: ['content'] })
  folder.write({ ...kept, apiKey: secret })
  return secret
}

/** The id of the key that sign-in links are for. */
export async function operatorKeyOf({ operatorKeys }: MultiTenantNotifier<unknown>): Promise<string> {
  const { items } = await operatorKeys.list()
  const found = items.find(({ name }) => name === NAME)
  if (found !== undefined) return found.id
  const created = await operatorKeys.create({ name: NAME, permission: 'Full Access', grants: ['content'] })
  return created.id
}

/**
 * Sends the events of the default organization to an address, or to none any more.
 *
 * @returns the signing secret, which stays the same for all addresses
 */
export async function forwardingSecret(
  { webhooks }: Tenant<unknown>,
  url: string | null,
  events: readonly WebhookEventType[],
  folder: KeptFolder,
): Promise<string | undefined> {
  const { endpoint, ...kept } = folder.read()
  const { items } = await webhooks.list({ limit: 100 })
  const known = items.some(({ id }) => id === endpoint?.id)
  if (url === null) {
    if (endpoint !== undefined && known) await webhooks.update(endpoint.id, { status: 'disabled' })
    return undefined
  }
  if (endpoint !== undefined && known) {
    await webhooks.update(endpoint.id, { url, status: 'active' })
    return endpoint.secret
  }
  const { id, secret } = await webhooks.create({ url, events, successStatus: '2xx' })
  folder.write({ ...kept, endpoint: { id, secret } })
  return secret
}
