import { describe, expect, it } from 'vitest'
import { settled } from '../../../../src/testing/fake-clock.ts'
import { dispatcherWorld, job, NOTHING } from '../../../support/dispatcher-world.ts'

describe('a recovered job', () => {
  it('runs alone, after the earlier jobs have had a second', async () => {
    const { clock, dispatcher, requests, running, end } = dispatcherWorld((request, count) => {
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

  it('begins at once when nothing else runs', async () => {
    const { clock, dispatcher, running, end } = dispatcherWorld((request, count) => {
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
  ])('runs alone after %i attempts, %i of them outages, for %i ms', async (attempts, outages, ms) => {
    const { clock, dispatcher, running } = dispatcherWorld((request, count) => {
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

  it('delays no other job for longer than two seconds when its provider hangs', async () => {
    let asked = 0
    const { clock, dispatcher, running } = dispatcherWorld((request) => {
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

  it('gives other jobs as long a turn as it delayed them', async () => {
    const world = dispatcherWorld((request, count) => {
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

  it('follows another one where nothing else is due', async () => {
    const order: string[] = []
    const { clock, dispatcher, running, end } = dispatcherWorld((request, count) => {
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

  it('follows another one while everything else that is due is paused', async () => {
    const { clock, dispatcher, running, free, end } = dispatcherWorld((request, count) => {
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

  it('does not delay the others while its lane is paused', async () => {
    const { dispatcher, running, free } = dispatcherWorld((request, count) => {
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
})
