import { describe, expect, it } from 'vitest'
import { createOffers } from '../../../../src/core/delivery/offers.ts'
import type { ClaimAnswer } from '../../../../src/core/ports/storage/claim.ts'
import { settled } from '../../../../src/testing/fake-clock.ts'
import { dispatcherWorld, job, NOTHING } from '../../../support/dispatcher-world.ts'

describe('the dispatcher', () => {
  it.each<[string, Partial<ClaimAnswer>, number]>([
    ['nothing is due', {}, 10],
    ['the due lane belongs to another process', { lanes: ['push'], recoveredLanes: ['push'] }, 10],
    ['the due lane is paused', { lanes: ['email'], recoveredLanes: ['email'] }, 0],
    ['the due lane gives nothing', { lanes: ['email'] }, 10],
    ['no lane gets what was recovered', { recoveredLanes: ['email'] }, 10],
  ])('does not spin when %s', async (_name, answer, slots) => {
    const { clock, dispatcher, requests, free } = dispatcherWorld(() => ({ ...NOTHING, ...answer }))
    free.set('email', slots)
    dispatcher.start()
    await clock.advance(10_000)
    expect(requests.length).toBeLessThanOrEqual(25)
    expect(requests.length).toBeGreaterThanOrEqual(10)
  })

  it('asks for free slots of the lanes that have due jobs only', async () => {
    const { dispatcher, requests, running } = dispatcherWorld((_request, count) =>
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

  it('claims again when something falls due, and at least once per poll', async () => {
    const { clock, dispatcher, requests } = dispatcherWorld((_request, count) => ({
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

  it('fills the slot of a job that has ended', async () => {
    const { dispatcher, requests, end } = dispatcherWorld((_request, count) =>
      count === 1 ? { ...NOTHING, jobs: [job('1')] } : NOTHING,
    )
    dispatcher.start()
    await settled()
    const before = requests.length
    await end('1')
    expect(requests.length).toBe(before + 1)
  })

  it('does not claim when a job ends and leaves no slot, but still once per poll', async () => {
    const jobs = [job('1'), job('2'), job('3')]
    const { clock, dispatcher, requests, free, end } = dispatcherWorld((_request, count) =>
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

  it('slows down while the storage fails, reports each failure, and recovers', async () => {
    let down = true
    const { clock, dispatcher, requests, errors } = dispatcherWorld(() => {
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

  it('asks for a lane that was named during a claim whose answer does not hold it', async () => {
    const { clock, dispatcher, requests, free } = dispatcherWorld((_request, count) => {
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

  it('takes the refs of a queue engine when it is the turn of the lanes, and they had nothing', async () => {
    const offers = createOffers()
    const { dispatcher, running, free, end } = dispatcherWorld((request) => {
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

  it('returns a claim that is answered after the stop, and waits for running jobs', async () => {
    let answerLate = (_answer: ClaimAnswer): void => {}
    const { dispatcher, released, running, end } = dispatcherWorld((_request, count) =>
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
  ])('runs the jobs that are still leased when a claim is answered %s', async (_when, ms, asked, run) => {
    const { clock, dispatcher, renewed, lost, running } = dispatcherWorld((_request, count) =>
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

  it('slows down while the storage fails, even if it is woken during each claim', async () => {
    const { clock, dispatcher, requests } = dispatcherWorld(() => {
      dispatcher.wake('email')
      throw new Error('away')
    })
    dispatcher.start()
    await clock.advance(60_000)
    expect(requests.length).toBeLessThan(10)
  })

  it('claims the refs of a queue engine again after a claim that failed', async () => {
    const offers = createOffers()
    const { clock, dispatcher, requests } = dispatcherWorld((request) => {
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

  it('yields to the event loop between claims that all find jobs', async () => {
    const { dispatcher, requests } = dispatcherWorld((_request, count) =>
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
    const { clock, dispatcher, requests } = dispatcherWorld(() => NOTHING)
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

it('hears of work at any moment, also at the end of a round', async () => {
  for (let moment = 0; moment < 30; moment += 1) {
    let later = async (): Promise<void> => {}
    const { dispatcher, requests } = dispatcherWorld((_request, count) => {
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
