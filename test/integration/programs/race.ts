// A process that races others over one database as soon as it is let, and says "<outcome> <value>" for each of
// its calls, then "done".
// Usage: node race.ts <options as JSON>
import { existsSync } from 'node:fs'
import { isNotifierError } from '../../../src/core/errors/notifier-error.ts'
import { perMinutePlans, UNLIMITED } from '../../../src/core/tenancy/plans.ts'
import { createNotifier } from '../../../src/create-notifier.ts'
import { httpProvider } from '../../support/faults/http-provider.ts'
import { openStorage, type StorageLocation } from '../../support/faults/store.ts'

export interface RaceOptions {
  readonly location: StorageLocation
  readonly port: number
  /** All begin together, when there is such a file. */
  readonly gate: string
  readonly race: /** Sends so many with the keys 0 … keys - 1 in turn; without keys when there are none. */
    | { readonly do: 'send'; readonly organizationId: string; readonly count: number; readonly keys: number }
    | { readonly do: 'cancel'; readonly ids: readonly string[] }
    | { readonly do: 'retry' }
  /** Quota of organizations without a plan. */
  readonly monthly: number
}

const { location, port, gate, race, monthly }: RaceOptions = JSON.parse(process.argv[2] ?? '')
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const notifier = createNotifier({
  channels: { email: httpProvider({ port }) },
  storage: openStorage(location),
  plans: { ...perMinutePlans, free: { ...UNLIMITED, notificationsPerMonth: monthly } },
})
await notifier.start({ deliver: false })
say('ready')
while (!existsSync(gate)) {
  // Spins, so that the processes meet within a millisecond.
}

async function told(call: Promise<string>): Promise<void> {
  try {
    say(await call)
  } catch (error) {
    say(`refused ${isNotifierError(error) ? error.code : String(error)}`)
  }
}

if (race.do === 'send') {
  const { organizationId, count, keys } = race
  await Promise.all(
    Array.from({ length: count }, (_, index) => {
      const key = index % (keys || 1)
      const message = { channel: 'email', to: 'ada@example.com', body: keys > 0 ? `${key}` : 'x' } as const
      const idempotencyKey = keys > 0 ? `key-${key}` : undefined
      return told(
        notifier
          .organization(organizationId)
          .send(message, { idempotencyKey })
          .then(({ id, replayed }) => `${replayed ? 'replayed' : 'accepted'} ${id}`),
      )
    }),
  )
} else if (race.do === 'cancel') {
  for (const id of race.ids) await told(notifier.notifications.cancel(id).then(() => `cancelled ${id}`))
} else {
  await told(notifier.deadLetters.retry({ filter: {} }).then(({ retried }) => `retried ${retried}`))
}
await notifier.stop()
say('done')
