import { describe, expect, it } from 'vitest'
import type { ClaimAnswer, ClaimedJob, ClaimRequest } from '../../../src/ports/storage/claim.ts'
import type { Storage } from '../../../src/ports/storage/storage.ts'
import { createDispatcher } from '../../../src/services/delivery/dispatcher.ts'
import type { Lane } from '../../../src/services/delivery/lane.ts'
import { createOffers, type Offers } from '../../../src/services/delivery/offers.ts'
import { fakeClock, settled } from '../../../src/testing/fake-clock.ts'

const NOTHING: ClaimAnswer = { jobs: [], lanes: [], recoveredLanes: [], nextDueInMs: null }

function job(jobId: string, lane = 'email'): ClaimedJob {
  return {
    kind: 'notification',
    jobId,
    token: 1,
    lane,
    organizationId: 'org_default',
    attempts: 0,
    outages: 0,
    earlierAttempts: 0,
    recovered: false,
    waitedMs: 0,
    notification: {
      id: jobId,
      channel: 'email',
      to: 'a@b.cd',
      content: { body: 'x' },
      createdAt: 0,
      expiresInMs: null,
      trace: null,
    },
  }
}

/** A dispatcher over a storage that answers as told, and lanes whose jobs end when the test says so. */
function create(
  answer: (request: ClaimRequest, count: number) => ClaimAnswer | Promise<ClaimAnswer>,
  offers?: Offers,
) {
  const clock = fakeClock()
  const requests: ClaimRequest[] = []
  const released: string[] = []
  const renewed: string[] = []
  const lost = new Set<string>()
  const errors: unknown[] = []
  const running = new Map<string, () => void>()
  const free = new Map([['email', 10]])
  const storage = {
    claim(request: ClaimRequest) {
      requests.push(request)
      return Promise.resolve().then(() => answer(request, requests.length))
    },
    async renew(refs: readonly ClaimedJob[]) {
      renewed.push(...refs.map(({ jobId }) => jobId))
      return refs.map(({ jobId }) => !lost.has(jobId))
    },
    async release(refs: readonly ClaimedJob[]) {
      released.push(...refs.map(({ jobId }) => jobId))
    },
  } as unknown as Storage
  const lane = (name: string): Lane => ({
    begin: false,
    free: () => free.get(name) ?? 0,
    run: ({ jobId }) => new Promise((resolve) => running.set(jobId, resolve)),
  })
  const get = (name: string) => (free.has(name) ? lane(name) : undefined)
  const dispatcher = createDispatcher({
    storage,
    lanes: {
      get,
      prepare: () => undefined,
      found() {},
      giveBack() {},
      demand: (names) =>
        [...names].flatMap((name) => {
          const slots = get(name)?.free() ?? 0
          return slots > 0 ? [{ lane: name, free: slots }] : []
        }),
    },
    clock,
    leaseMs: 60_000,
    pollMs: 1_000,
    offers,
    failed: (error) => void errors.push(error),
  })
  const end = async (jobId: string) => {
    running.get(jobId)?.()
    running.delete(jobId)
    await settled()
  }
  return { clock, dispatcher, requests, released, renewed, lost, errors, running, free, end }
}

describe('the dispatcher', () => {
  it.each<[string, Partial<ClaimAnswer>, number]>([
    ['nothing is due', {}, 10],
    ['the lane of what is due is not of this process', { lanes: ['push'], recoveredLanes: ['push'] }, 10],
    ['the lane of what is due rests', { lanes: ['email'], recoveredLanes: ['email'] }, 0],
    ['the lane of what is due gives nothing', { lanes: ['email'] }, 10],
    ['nobody gets what was recovered', { recoveredLanes: ['email'] }, 10],
  ])('does not spin when %s', async (_name, answer, slots) => {
    const { clock, dispatcher, requests, free } = create(() => ({ ...NOTHING, ...answer }))
    free.set('email', slots)
    dispatcher.start()
    await clock.advance(10_000)
    expect(requests.length).toBeLessThanOrEqual(25)
    expect(requests.length).toBeGreaterThanOrEqual(10)
  })

  it('asks for free slots only, of the lanes that have something', async () => {
    const { dispatcher, requests, running } = create((_request, count) =>
      count === 1
        ? { ...NOTHING, lanes: ['email', 'push'] }
        : count === 2
          ? { ...NOTHING, jobs: [job('1')] }
          : NOTHING,
    )
    dispatcher.start()
    await settled()
    expect(requests.slice(0, 2)).toEqual([
      { lanes: [], leaseMs: 60_000 },
      { lanes: [{ lane: 'email', free: 10 }], leaseMs: 60_000 },
    ])
    expect([...running.keys()]).toEqual(['1'])
  })

  it('looks again when something falls due, and at least once in every poll', async () => {
    const { clock, dispatcher, requests } = create((_request, count) => ({
      ...NOTHING,
      nextDueInMs: count === 1 ? 300 : 500_000,
    }))
    dispatcher.start()
    await clock.advance(299)
    expect(requests).toHaveLength(1)
    await clock.advance(1)
    expect(requests).toHaveLength(2)
    await clock.advance(1_000)
    expect(requests).toHaveLength(3)
  })

  it('fills a slot that a job has left', async () => {
    const { dispatcher, requests, end } = create((_request, count) =>
      count === 1 ? { ...NOTHING, jobs: [job('1')] } : NOTHING,
    )
    dispatcher.start()
    await settled()
    const before = requests.length
    await end('1')
    expect(requests.length).toBe(before + 1)
  })

  it('asks nothing when a job ends and leaves no slot, but still in every poll', async () => {
    const jobs = [job('1'), job('2'), job('3')]
    const { clock, dispatcher, requests, free, end } = create((_request, count) =>
      count === 2 ? { ...NOTHING, jobs, lanes: ['email'] } : { ...NOTHING, lanes: ['email'] },
    )
    dispatcher.start()
    await settled()
    free.set('email', 0)
    await clock.advance(1_000)
    const before = requests.length
    await end('1')
    dispatcher.freed()
    await settled()
    expect(requests.length).toBe(before)
    await clock.advance(1_000)
    expect(requests.length).toBe(before + 1)
    free.set('email', 1)
    await end('2')
    expect(requests.slice(before + 1)).toEqual([{ lanes: [{ lane: 'email', free: 1 }], leaseMs: 60_000 }])
    free.set('email', 0)
    dispatcher.wake('sms')
    await settled()
    expect(requests.length).toBe(before + 3)
  })

  it('slows down while the storage fails, tells of each failure, and recovers', async () => {
    let down = true
    const { clock, dispatcher, requests, errors } = create(() => {
      if (down) throw new Error('away')
      return NOTHING
    })
    dispatcher.start()
    await clock.advance(2_000 + 4_000 + 8_000 + 16_000 + 30_000 + 30_000 - 1)
    expect(requests).toHaveLength(6)
    expect(errors).toHaveLength(6)
    down = false
    await clock.advance(1)
    await clock.advance(3_000)
    expect(requests.length).toBeGreaterThanOrEqual(10)
    expect(errors).toHaveLength(6)
    down = true
    await clock.advance(3_100)
    expect(errors).toHaveLength(8)
  })

  it('runs a recovered job alone, from when what was there has run for a second until it has ended', async () => {
    const { clock, dispatcher, requests, running, end } = create((request, count) => {
      if (count === 1)
        return { ...NOTHING, jobs: [job('neighbour')], lanes: ['email'], recoveredLanes: ['email'] }
      if ('recovered' in request) return { ...NOTHING, jobs: [job('poison')], lanes: ['email'] }
      return { ...NOTHING, jobs: [job('next')] }
    })
    dispatcher.start()
    dispatcher.wake('email')
    await clock.advance(999)
    expect([...running.keys()]).toEqual(['neighbour'])
    await clock.advance(1)
    expect([...running.keys()]).toEqual(['neighbour', 'poison'])
    dispatcher.wake('email')
    await clock.advance(999)
    expect([...running.keys()]).toEqual(['neighbour', 'poison'])
    expect(requests).toHaveLength(2)
    await end('poison')
    expect([...running.keys()]).toEqual(['neighbour', 'next'])
  })

  it('begins a recovered job at once when nothing else runs', async () => {
    const { clock, dispatcher, running, end } = create((request, count) => {
      if (count === 1) return { ...NOTHING, jobs: [job('neighbour')], recoveredLanes: ['email'] }
      return 'recovered' in request ? { ...NOTHING, jobs: [job('poison')] } : NOTHING
    })
    dispatcher.start()
    await clock.advance(10)
    await end('neighbour')
    expect([...running.keys()]).toEqual(['poison'])
  })

  it.each([
    [1, 0, 1_000],
    [2, 0, 2_000],
    [4, 0, 8_000],
    [9, 0, 8_000],
    [20, 19, 1_000],
  ])('leaves a job alone after %i attempts, %i of them outages, for %i ms', async (attempts, outages, ms) => {
    const { clock, dispatcher, running } = create((request, count) => {
      if (count === 1) return { ...NOTHING, lanes: ['email'], recoveredLanes: ['email'] }
      if ('recovered' in request)
        return { ...NOTHING, jobs: [{ ...job('slow'), attempts, outages }], lanes: ['email'] }
      return { ...NOTHING, jobs: [job(`next ${count}`)] }
    })
    dispatcher.start()
    await clock.advance(ms - 1)
    expect([...running.keys()]).toEqual(['slow'])
    await clock.advance(1)
    expect([...running.keys()]).toEqual(['slow', expect.stringMatching(/^next/)])
  })

  it('has nobody wait for longer than two seconds for recovered jobs whose provider hangs', async () => {
    let asked = 0
    const { clock, dispatcher, running } = create((request) => {
      const answer = { ...NOTHING, lanes: [], recoveredLanes: ['email'] }
      if ('recovered' in request)
        return { ...answer, jobs: [{ ...job(`hangs ${running.size}`), attempts: 1 }] }
      asked = clock.monotonic()
      return answer
    })
    dispatcher.start()
    let longest = 0
    for (let ms = 0; ms < 20_000; ms += 100) {
      await clock.advance(100)
      longest = Math.max(longest, clock.monotonic() - asked)
      // An urgent one has just come.
      dispatcher.wake('email')
    }
    expect(running.size).toBeGreaterThanOrEqual(5)
    expect(longest).toBeLessThanOrEqual(2_100)
  })

  it('gives others as long a turn after each recovered job as that held them up', async () => {
    const world = create((request, count) => {
      const answer = { ...NOTHING, lanes: ['email'], recoveredLanes: ['email'] }
      if (count === 1 || world.running.size > 0) return answer
      return { ...answer, jobs: [job(`${'recovered' in request ? 'recovered' : 'other'} ${count}`)] }
    })
    const { clock, dispatcher, running, end } = world
    const tookMs = { recovered: 0, other: 0 }
    dispatcher.start()
    await settled()
    for (let jobs = 0; jobs < 200; jobs += 1) {
      const [id = ''] = running.keys()
      const kind = id.startsWith('recovered') ? 'recovered' : 'other'
      const ms = kind === 'recovered' ? 1_000 : 50
      await clock.advance(ms)
      tookMs[kind] += ms
      await end(id)
    }
    const share = tookMs.recovered / (tookMs.recovered + tookMs.other)
    expect(share).toBeGreaterThan(0.3)
    expect(share).toBeLessThan(0.6)
  })

  it('runs one recovered job after another where nothing else is due', async () => {
    const order: string[] = []
    const { clock, dispatcher, running, end } = create((request, count) => {
      if (!('recovered' in request)) return { ...NOTHING, recoveredLanes: count < 12 ? ['email'] : [] }
      return { ...NOTHING, jobs: [job(`recovered ${count}`)], recoveredLanes: ['email'] }
    })
    dispatcher.start()
    await settled()
    for (let jobs = 0; jobs < 3; jobs += 1) {
      const [id = ''] = running.keys()
      order.push(id)
      await clock.advance(500)
      await end(id)
    }
    expect(order).toEqual([
      expect.stringMatching(/^recovered/),
      ...Array(2).fill(expect.stringMatching(/^recovered/)),
    ])
  })

  it('runs one recovered job after another while all else that is due rests', async () => {
    const { clock, dispatcher, running, free, end } = create((request, count) => {
      const answer = { ...NOTHING, lanes: ['email'], recoveredLanes: ['sms'] }
      return 'recovered' in request ? { ...answer, jobs: [job(`recovered ${count}`, 'sms')] } : answer
    })
    free.set('email', 0)
    free.set('sms', 10)
    dispatcher.start()
    await clock.advance(100)
    const [first] = running.keys()
    await end(first ?? '')
    // As long as the first one held others up.
    await clock.advance(150)
    expect([...running.keys()]).toEqual([expect.stringMatching(/^recovered/)])
    expect(running.has(first ?? '')).toBe(false)
  })

  it('delivers the rest while the lane of a recovered job rests', async () => {
    const { dispatcher, running, free } = create((request, count) => {
      if (count === 1) return { ...NOTHING, lanes: ['sms'], recoveredLanes: ['email'] }
      return 'recovered' in request
        ? { ...NOTHING, jobs: [job('poison')] }
        : { ...NOTHING, jobs: [job('1', 'sms')] }
    })
    free.set('email', 0).set('sms', 5)
    dispatcher.start()
    await settled()
    expect([...running.keys()]).toEqual(['1'])
  })

  it('asks for a lane that was named while a claim was under unit, which its answer does not know', async () => {
    const { clock, dispatcher, requests, free } = create((_request, count) => {
      // Its providers have just been made; by now another process has its job.
      if (count === 1) dispatcher.wake('sms')
      return NOTHING
    })
    free.set('sms', 10)
    dispatcher.start()
    dispatcher.wake('email')
    await clock.advance(0)
    const asked = requests.map((request) => ('lanes' in request ? request.lanes.map(({ lane }) => lane) : []))
    expect(asked).toEqual([['email'], ['sms']])
  })

  it('takes what a queue engine handed over when it was the turn of the lanes, and they had nothing', async () => {
    const offers = createOffers()
    const { dispatcher, running, free, end } = create((request) => {
      // Another process has the other one of the lane by the time that it has room.
      if (!('ids' in request)) return NOTHING
      free.set('email', 0)
      return { ...NOTHING, jobs: request.ids.map((id) => job(id)), lanes: ['email'] }
    }, offers)
    free.set('email', 1).set('sms', 1)
    const handOver = (...refs: { jobId: string; lane: string }[]) => {
      void offers.add(refs)
      dispatcher.wake()
    }
    dispatcher.start()
    await settled()
    handOver({ jobId: '1', lane: 'email' }, { jobId: '2', lane: 'email' })
    await settled()
    expect([...running.keys()]).toEqual(['1'])
    free.set('email', 1)
    handOver({ jobId: '3', lane: 'sms' })
    await end('1')
    expect([...running.keys()]).toEqual(['3'])
  })

  it('returns a claim that comes after its stop, and waits for what runs', async () => {
    let answerLate = (_answer: ClaimAnswer): void => {}
    const { dispatcher, released, running, end } = create((_request, count) =>
      count === 1
        ? { ...NOTHING, jobs: [job('1')], lanes: ['email'] }
        : new Promise<ClaimAnswer>((resolve) => {
            answerLate = resolve
          }),
    )
    dispatcher.start()
    await settled()
    const stopped = dispatcher.stop()
    answerLate({ ...NOTHING, jobs: [job('2'), job('3')] })
    await stopped
    expect(released).toEqual(['2', '3'])
    expect([...running.keys()]).toEqual(['1'])
    let idle = false
    void dispatcher.idle().then(() => {
      idle = true
    })
    await settled()
    expect(idle).toBe(false)
    await end('1')
    expect(idle).toBe(true)
  })

  it.each([
    ['at once', 19_999, [], ['1', '2']],
    ['late', 20_001, ['1', '2'], ['2']],
  ])('runs what is still leased when a claim is answered %s', async (_when, ms, asked, run) => {
    const { clock, dispatcher, renewed, lost, running } = create((_request, count) =>
      count > 1
        ? NOTHING
        : new Promise((resolve) => {
            clock.timer(ms, () => resolve({ ...NOTHING, jobs: [job('1'), job('2')] }))
          }),
    )
    lost.add('1')
    dispatcher.start()
    await clock.advance(ms)
    expect(renewed).toEqual(asked)
    expect([...running.keys()]).toEqual(run)
  })

  it('slows down while the storage fails also where it is woken during each claim', async () => {
    const { clock, dispatcher, requests } = create(() => {
      dispatcher.wake('email')
      throw new Error('away')
    })
    dispatcher.start()
    await clock.advance(60_000)
    expect(requests.length).toBeLessThan(10)
  })

  it('asks again for what a queue engine handed over to a claim that failed', async () => {
    const offers = createOffers()
    const { clock, dispatcher, requests } = create((request) => {
      if ('ids' in request) throw new Error('away')
      return NOTHING
    }, offers)
    dispatcher.start()
    await settled()
    const handed = offers.add([{ jobId: '1', lane: 'email' }])
    dispatcher.wake()
    await handed
    await clock.advance(2_000)
    expect(requests.slice(-2)).toEqual([
      { ids: ['1'], leaseMs: 60_000 },
      { lanes: [{ lane: 'email', free: 10 }], leaseMs: 60_000 },
    ])
  })

  it('lets others have a turn between claims that all find something', async () => {
    const { dispatcher, requests } = create((_request, count) =>
      count <= 100 ? { ...NOTHING, jobs: [job(String(count))], lanes: ['email'] } : NOTHING,
    )
    dispatcher.start()
    let turns = 0
    while (requests.length <= 100) {
      turns += 1
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(turns).toBeGreaterThan(100)
  })

  it('claims nothing before its start and after its stop', async () => {
    const { clock, dispatcher, requests } = create(() => NOTHING)
    dispatcher.wake('email')
    await clock.advance(5_000)
    expect(requests).toEqual([])
    dispatcher.start()
    await settled()
    await dispatcher.stop()
    dispatcher.wake('email')
    await clock.advance(60_000)
    expect(requests).toHaveLength(1)
  })
})

it('hears of work at whichever moment it is told, also while a round is ending', async () => {
  for (let moment = 0; moment < 30; moment += 1) {
    let later = async (): Promise<void> => {}
    const { dispatcher, requests } = create((_request, count) => {
      if (count === 1) void later()
      return NOTHING
    })
    later = async () => {
      for (let step = 0; step < moment; step += 1) await null
      dispatcher.wake('email')
    }
    dispatcher.start()
    await settled()
    expect([moment, requests.length]).toEqual([moment, 2])
    await dispatcher.stop()
  }
})
