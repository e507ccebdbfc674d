import { createNotifier, type Notifier, perMinutePlans } from 'carillon'
import { sqlite } from 'carillon/sqlite'
import { type RawCopy, rawCopy } from './raw-sqlite.ts'

/** Counts everything and refuses nothing. */
export const ROOMY = {
  requests: { limit: 1_000_000_000, windowMs: 60_000 },
  notificationsPerHour: 1_000_000_000,
  concurrentRequests: 1_000,
  notificationsPerMonth: 1_000_000_000,
  storedBytes: null,
}

/** Plans that count everything and limit nothing for the sending organization. */
export const ROOMY_PLANS = { ...perMinutePlans, org_default: ROOMY }

const MOST_IN_BATCH = 10_000

/** A notifier that accepts into a SQLite file with full sync and does not deliver. */
export async function acceptingNotifier(file: string, limits: 'limited' | 'unlimited'): Promise<Notifier> {
  const notifier = createNotifier({
    storage: sqlite({ file }),
    channels: { email: { name: 'none', send: async () => ({ kind: 'accepted' }) } },
    plans: limits === 'limited' ? ROOMY_PLANS : perMinutePlans,
  })
  await notifier.start({ deliver: false })
  return notifier
}

/** Copies the rows of `file` into a new file with the same tables and indexes, as a floor. */
export async function floorOf(file: string): Promise<RawCopy> {
  const target = `${file}.floor`
  const empty = sqlite({ file: target })
  await empty.start()
  await empty.stop()
  return rawCopy(file, target)
}

/** Creates a file with `count` waiting mails. Each run gets a copy. */
export async function backlogFile(file: string, count: number): Promise<void> {
  const notifier = await acceptingNotifier(file, 'unlimited')
  for (let left = count; left > 0; left -= MOST_IN_BATCH) {
    await notifier.sendBatch(mails(Math.min(left, MOST_IN_BATCH)))
  }
  await notifier.stop()
}

/** Resolves when `count` notifications are handed over and stored as such. */
export function sentCount(notifier: Notifier, count: number): Promise<void> {
  return new Promise((resolve) => {
    let sent = 0
    notifier.on('notification.sent', () => {
      sent += 1
      if (sent === count) resolve()
    })
  })
}

/** A batch of simple mails. */
export function mails(count: number): { channel: 'email'; to: string; subject: string; body: string }[] {
  return Array.from({ length: count }, (_, index) => ({
    channel: 'email',
    to: `customer-${index}@example.com`,
    subject: 'Your parcel',
    body: 'Your parcel was handed to the carrier today and should reach you within two days.',
  }))
}
