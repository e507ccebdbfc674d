import assert from 'node:assert/strict'
import type { JobRef, Queue, QueueWorker } from '../../core/ports/queue.ts'
import { inTime } from '../in-time.ts'
import type { QueueHarness } from './harness.ts'
import { sleep, until } from './wait.ts'

/** The parts of a check. Errors of workers explain its failure. */
interface World extends Pick<QueueWorker, 'onError'> {
  readonly harness: Pick<QueueHarness, 'queue'>
}

type Check = (name: string, run: (world: World) => Promise<void>) => void
type Handed = Parameters<QueueWorker['handle']>[0][number]

/** The check without which all others wait in vain. */
export const ARRIVAL = 'what is enqueued comes'
/** Long enough for an engine that starts on a busy machine. */
const ARRIVAL_MS = 15_000
/** Long enough for wrong refs to arrive. */
const SILENCE_MS = 500

function refs(beginning: string, count: number, dueInMs = 0): JobRef[] {
  return Array.from({ length: count }, (_, index) => ({
    jobId: `${beginning}${index}`,
    lane: index % 3 === 0 ? 'sms' : 'email',
    dueInMs,
  }))
}

const nameOf = ({ lane, jobId }: Handed): string => `${lane} ${jobId}`
const namesOf = (of: Iterable<Handed>): string[] => [...new Set(Array.from(of, nameOf))].sort()

/** The port's rules for refs, without a notifier, which would hide faults of an engine with its sweep. */
export function refChecks(check: Check): void {
  function checkQueues(
    name: string,
    run: (one: Queue, other: Queue, onError: World['onError']) => Promise<void>,
  ): void {
    check(name, async ({ harness, onError }) => {
      const queues = [harness.queue(), harness.queue()]
      const [one, other] = queues
      if (!one || !other) return
      try {
        await one.open()
        await other.open()
        await run(one, other, onError)
      } finally {
        await Promise.all(queues.map((queue) => queue?.close()))
      }
    })
  }

  checkQueues(ARRIVAL, async (one, other, onError) => {
    const arrival = async (): Promise<void> => {
      let resolve = (): void => {}
      const handed = new Promise<void>((settle) => {
        resolve = settle
      })
      const stop = await other.work({ handle: async () => resolve(), onError })
      await one.enqueue(refs('first', 1))
      await handed
      await stop()
    }
    await inTime(arrival(), 'the engine has handed nothing over of what was enqueued', ARRIVAL_MS)
  })

  checkQueues('every ref comes with its lane, and not before it is due', async (one, other, onError) => {
    const handed = new Map<string, { readonly ref: Handed; readonly at: number }>()
    const worker: QueueWorker = {
      async handle(refs) {
        const at = performance.now()
        for (const ref of refs) if (!handed.has(ref.jobId)) handed.set(ref.jobId, { ref, at })
      },
      onError,
    }
    const stops = [await one.work(worker), await other.work(worker)]
    const now = [...refs('now', 250), ...refs('one', 1)]
    const later = [
      ...refs('later', 150, 1_500),
      ...refs('much later', 1, 2_500),
      ...refs('never', 1, 3_000_000_000),
    ]
    const due = [...now, ...later.slice(0, -1)]
    const began = performance.now()
    await one.enqueue([...now, ...later])
    await until('all that is due', () => handed.size, due.length)
    await sleep(SILENCE_MS)
    assert.deepEqual(namesOf(Array.from(handed.values(), ({ ref }) => ref)), namesOf(due))
    for (const { jobId, dueInMs } of due) {
      const after = (handed.get(jobId)?.at ?? 0) - began
      // Engines' clocks have a resolution of a millisecond.
      assert.ok(after >= dueInMs - 10, `${jobId} came after ${after} ms`)
    }
    await Promise.all(stops.map((stop) => stop()))
  })

  checkQueues(
    'a stop waits for what was handed over; what is announced then comes to others',
    async (one, other, onError) => {
      let release = (): void => {}
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      const first: Handed[] = []
      const stop = await one.work({
        handle(refs) {
          first.push(...refs)
          return held
        },
        onError,
      })
      await one.enqueue(refs('held', 1))
      await until('a hand-over', () => first.length)
      let stopped = false
      const stopping = stop().then(() => {
        stopped = true
      })
      await sleep(SILENCE_MS)
      assert.equal(stopped, false)
      release()
      await stopping
      const before = first.length

      const second: Handed[] = []
      const stopSecond = await other.work({
        async handle(refs) {
          second.push(...refs)
        },
        onError,
      })
      const rest = refs('rest', 20)
      for (const ref of rest) await one.enqueue([ref])
      await until(
        'all to the other',
        () => {
          assert.equal(first.length, before, 'something came after the stop')
          return namesOf(second).length
        },
        rest.length,
      )
      await sleep(SILENCE_MS)
      assert.deepEqual(namesOf(second), namesOf(rest))
      assert.equal(first.length, before, 'something came after the stop')
      await stopSecond()
    },
  )
}
