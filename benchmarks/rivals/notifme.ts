import { createRequire } from 'node:module'

interface Notifme {
  send(request: { readonly email: Readonly<Record<string, string>> }): Promise<{ readonly status: string }>
}

/** notifme-sdk with a no-op provider. It has no storage and no retries. */
export function notifmeRival(): Notifme {
  // Its types describe every provider's client; these are the members in use.
  const loaded = createRequire(import.meta.url)('notifme-sdk') as {
    default: new (options: object) => Notifme
  }
  const provider = { type: 'custom', id: 'none', send: async () => 'message-id' }
  return new loaded.default({ channels: { email: { providers: [provider] } } })
}
