import { expect, it } from 'vitest'
import type { Clock } from '../../../../src/core/ports/clock.ts'
import type { Storage } from '../../../../src/core/ports/storage/storage.ts'
import { settled } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { notifierWorld } from '../../../support/notifier-world.ts'

const MINUTE = 60_000
const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const

/** A process that can stand still: neither its timers nor the answers of its storage come before it goes on. */
function standstill(clock: Clock, storage: Storage) {
  let goOn: (() => void) | null = null
  let still: Promise<void> | null = null
  const wait = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
    const given = await answer
    await still
    return given
  }
  return {
    clock: {
      ...clock,
      timer(delayMs, callback) {
        let cancelled = false
        const fire = async (): Promise<void> => {
          await still
          if (!cancelled) callback()
        }
        const cancel = clock.timer(delayMs, () => void fire())
        return () => {
          cancelled = true
          cancel()
        }
      },
    } satisfies Clock,
    storage: {
      ...storage,
      claim: (request) => wait(storage.claim(request)),
      async renew(refs, leaseMs) {
        // On its unit to a server, while what was answered before the standstill is here already.
        await settled()
        return wait(storage.renew(refs, leaseMs))
      },
      startAttempts: (refs) => wait(storage.startAttempts(refs)),
    } satisfies Storage,
    stand() {
      still = new Promise((resolve) => (goOn = resolve))
    },
    goOn() {
      still = null
      goOn?.()
    },
  }
}

/** One process that stands still between the record of an attempt and its hand-over. */
async function stalled(onAmbiguous: 'retry' | 'fail' = 'retry') {
  const world = notifierWorld()
  const { clock, storage } = world
  const process = standstill(clock, storage)
  const sent: string[] = []
  const channel = (name: string) =>
    recordingProvider({
      onAmbiguous,
      send: () => {
        sent.push(name)
        return { kind: 'accepted', providerMessageId: name }
      },
    })
  const begun = process.storage.startAttempts
  process.storage.startAttempts = (refs) => {
    process.storage.startAttempts = begun
    process.stand()
    return begun(refs)
  }
  const notifier = await world.start({
    channels: { email: channel('stalled') },
    storage: process.storage,
    clock: process.clock,
  })
  const { id } = await notifier.send(mail)
  await settled()
  expect(sent).toEqual([])
  return { ...world, notifier, id, sent, channel, process }
}

it('what another process has sent meanwhile is not sent by one that stood still for longer than its lease', async () => {
  const { start, clock, sent, channel, process, id, history, errors } = await stalled()
  const other = await start({ channels: { email: channel('other') }, delivery: { pollMs: 1_000 } })
  await clock.advance(2 * MINUTE)
  expect(sent).toEqual(['other'])
  process.goOn()
  for (let second = 0; second < 60; second += 1) await clock.advance(1_000)
  expect(sent).toEqual(['other'])
  expect(await history(other, id)).toEqual(['queued', 'attempt_ambiguous: delivery_unknown', 'sent'])
  expect(errors).toEqual([])
})

it('what nobody has taken meanwhile is sent all the same, once', async () => {
  const { clock, sent, process, id, notifier, history } = await stalled('fail')
  await clock.advance(2 * MINUTE)
  process.goOn()
  for (let second = 0; second < 60; second += 1) await clock.advance(1_000)
  expect(sent).toEqual(['stalled'])
  expect(await history(notifier, id)).toEqual(['queued', 'sent'])
})

it('what nobody can be sure to have still goes back first', async () => {
  const { clock, sent, process, id, notifier, history } = await stalled()
  await clock.advance(2 * MINUTE)
  process.storage.renew = () => Promise.reject(new Error('The storage is away.'))
  process.goOn()
  await clock.advance(0)
  expect(sent).toEqual(['stalled'])
  expect(await history(notifier, id)).toEqual(['queued', 'attempt_failed: provider_unavailable', 'sent'])
})

it('what waits for its history keeps its lease', async () => {
  const { start, clock, storage } = notifierWorld()
  let sent = 0
  const tried = recordingProvider({
    name: 'a',
    send: () => ({ kind: 'retry', code: 'provider_error', scope: 'message' }),
  })
  const slow = (name: string) =>
    recordingProvider({
      name,
      send: async () => {
        sent += 1
        await new Promise<void>((resolve) => clock.timer(20_000, resolve))
        return { kind: 'accepted', providerMessageId: name }
      },
    })
  const first = await start({ channels: { email: [tried, recordingProvider({ name: 'b' })] } })
  const { id } = await first.send(mail)
  await settled()
  const stopped = first.stop({ timeoutMs: 1 })
  await clock.advance(5_000)
  await stopped
  const { notifications } = storage
  const delayed: Storage = {
    ...storage,
    notifications: {
      ...notifications,
      async timeline(of) {
        await new Promise<void>((resolve) => clock.timer(50_000, resolve))
        return notifications.timeline(of)
      },
    },
  }
  const channels = { email: [slow('a'), slow('b')] }
  await start({ channels, storage: delayed, delivery: { pollMs: 1_000 } })
  await clock.advance(10_000)
  const other = await start({ channels, delivery: { pollMs: 1_000 } })
  for (let second = 0; second < 120; second += 1) await clock.advance(1_000)
  expect(sent).toBe(1)
  expect((await other.notifications.get(id)).status).toBe('sent')
})
