import type { Message } from '../../../src/core/ports/provider.ts'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'
import { createNotifier, type Notifier, type Provider } from '../../../src/index.ts'
import { openStorage, type StorageLocation } from '../faults/store.ts'

/** A notifier of a database that is being frozen, or was. */
export interface FrozenNotifier {
  readonly notifier: Notifier
  readonly storage: Storage
  /** The messages that the provider was handed. */
  readonly sent: Pick<Message, 'to' | 'subject' | 'body'>[]
  now(): number
}

/** Addresses that begin so fail until they are frozen. */
const GONE = 'gone'
const BUSY = 'busy'

/**
 * @param laterMs how far its clock is ahead of this machine's, and its storage's. 0: it is being frozen
 */
export function frozenNotifier(location: StorageLocation, laterMs: number): FrozenNotifier {
  const now = (): number => Date.now() + laterMs
  const storage = openStorage(location, laterMs)
  const sent: FrozenNotifier['sent'] = []
  const provider: Provider = {
    name: 'post',
    async send({ to, subject, body }) {
      if (laterMs === 0 && to.startsWith(GONE)) {
        return { kind: 'rejected', code: 'unknown_recipient', scope: 'recipient', message: 'No such box.' }
      }
      if (laterMs === 0 && to.startsWith(BUSY)) {
        const retryAfterMs = 30 * 60_000
        return { kind: 'retry', code: 'provider_error', scope: 'recipient', message: 'Busy.', retryAfterMs }
      }
      sent.push({ to, subject, body })
      return { kind: 'accepted', providerMessageId: `post-${sent.length}` }
    },
  }
  const notifier = createNotifier({
    storage,
    clock: {
      now,
      monotonic: () => performance.now(),
      timer(delayMs, callback) {
        const timer = setTimeout(callback, delayMs).unref()
        return () => clearTimeout(timer)
      },
    },
    channels: { email: provider, sms: provider },
    webhooks: { allow: ['127.0.0.1/32'], allowHttp: true },
    recipients: {
      resolve: (ids) =>
        Object.fromEntries(
          ids.map((id) => [
            id,
            { channels: { email: `${id}@example.com`, sms: '+436641234567' }, locale: 'de' },
          ]),
        ),
    },
  })
  return { notifier, storage, sent, now }
}
