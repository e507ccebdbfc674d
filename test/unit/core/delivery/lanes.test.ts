import { describe, expect, it } from 'vitest'
import type { Attempts } from '../../../../src/core/delivery/attempts.ts'
import { createLanes, type LaneSetOptions } from '../../../../src/core/delivery/lanes.ts'
import { createStop } from '../../../../src/core/delivery/stop.ts'
import { createTally } from '../../../../src/core/delivery/tally.ts'
import type { ClaimedJob } from '../../../../src/core/ports/storage/claim.ts'
import { ALL_ORGANIZATIONS } from '../../../../src/core/tenancy/all-organizations.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { engineParts } from '../../../support/engine-parts.ts'

/** Lanes whose posts never end, and a unit to begin some. */
function hangingLanes(given: Partial<Pick<LaneSetOptions, 'registry' | 'group'>> = {}) {
  const attempts: Partial<Attempts> = {
    run: (_job, work) => work(createStop()),
    begin: () => new Promise(() => {}),
  }
  const { registry } = engineParts(recordingProvider(), fakeClock())
  const lanes = createLanes({
    registry,
    events: { attempts } as LaneSetOptions['events'],
    listeners: new Map(),
    notifications: {} as LaneSetOptions['notifications'],
    group: () => ({ states: [], used: createTally(), choose: () => undefined as never }),
    wakeIn() {},
    freed() {},
    ...given,
  })
  function run(id: string, organizationId: string, count: number, owner = organizationId): void {
    const job = { kind: 'event', organizationId, delivery: { endpoint: { id, organizationId: owner } } }
    for (let running = 0; running < count; running += 1) void lanes.get(id)?.run(job as ClaimedJob)
  }
  return { lanes, run }
}

/** Runs all that may be taken for these lanes, until there is nothing. */
function fill(
  { lanes, run }: ReturnType<typeof hangingLanes>,
  ids: readonly string[],
  organizationId: string,
): void {
  for (;;) {
    const demand = lanes.demand(ids)
    if (demand.length === 0) return
    for (const { lane, free } of demand) run(lane, organizationId, free)
  }
}

it('keeps count of what an endpoint has under unit, however many others have been seen since', () => {
  const { lanes, run } = hangingLanes()
  run('wh_slow', 'org_a', 4)
  for (let other = 0; other < 2_000; other += 1) lanes.get(`wh_${other}`)
  expect(lanes.demand(['wh_slow', 'wh_1'])).toMatchObject([{ free: 6 }, { free: 10 }])
})

it.each([1, 19, 20, 49, 100, 150, 199])(
  '%i endpoints that hang leave something to another, of the same organization too',
  (count) => {
    const all = hangingLanes()
    const ids = Array.from({ length: count }, (_, index) => `wh_${index}`)
    fill(all, ids, 'org_a')
    for (const organizationId of ['org_a', 'org_b']) {
      all.run('wh_works', organizationId, 0)
      const [demand] = all.lanes.demand([...ids, 'wh_works'])
      expect(demand).toMatchObject({ lane: 'wh_works' })
    }
    // What has none to take has no room either: it would be asked for again and again.
    expect(ids.filter((id) => all.lanes.get(id)?.free() !== 0)).toEqual([])
  },
)

it('endpoints that fit all have ten each', () => {
  const all = hangingLanes()
  const ids = Array.from({ length: 19 }, (_, index) => `wh_${index}`)
  expect(all.lanes.demand(ids).map(({ free }) => free)).toEqual(ids.map(() => 10))
})

it("an operator's endpoint that hangs takes no slots from the organization whose events it has", () => {
  const { lanes, run } = hangingLanes()
  run('wh_operators', 'org_a', 10, ALL_ORGANIZATIONS)
  for (let other = 0; other < 18; other += 1) run(`wh_b${other}`, 'org_b', 10)
  for (const id of ['wh_c1', 'wh_c2']) run(id, 'org_c', 1)
  run('wh_a', 'org_a', 2)
  const demand = lanes.demand(['wh_a', 'wh_c1', 'wh_c2'])
  const given = (...ids: string[]): number =>
    demand.filter(({ lane }) => ids.includes(lane)).reduce((sum, { free }) => sum + free, 0)
  // Both organizations have two requests under way, so they share the next slots.
  expect([given('wh_a'), given('wh_c1', 'wh_c2')]).toEqual([2, 2])
})

describe('the lanes of organizations without providers of their own', () => {
  /** A provider with ten slots, `email` for organizations and `email@…` for one. */
  function shared() {
    const slots = { used: createTally(), empty: () => 10 - slots.used.all() }
    const state = { ...slots, free: slots.empty, room: slots.empty, prepare() {}, used: slots.used.of }
    const { registry } = engineParts(recordingProvider(), fakeClock())
    const own = {
      known: () => ({ kind: 'loaded', set: null }),
      hasRoom: () => true,
      load() {},
      hold: () => () => {},
    }
    const { lanes } = hangingLanes({
      registry: { ...registry, own: () => own as never },
      group: () => ({
        states: [state as never],
        used: slots.used,
        choose: () => undefined as never,
      }),
    })
    return { lanes, use: slots.used.add }
  }

  it('may use the slots of the shared providers by the same rule', () => {
    const { lanes, use } = shared()
    const demand = (...names: string[]) => {
      void lanes.prepare(names)
      return lanes.demand(names).map(({ lane, free }) => [lane, free])
    }
    expect(demand('email@org_a')).toEqual([['email@org_a', 5]])
    expect(demand('email@org_a', 'email@org_b')).toEqual([
      ['email@org_a', 4],
      ['email@org_b', 3],
    ])
    for (let slot = 0; slot < 5; slot += 1) use('org_a')
    expect(demand('email@org_a', 'email@org_b')).toEqual([['email@org_b', 3]])
    // It would be asked for again and again.
    expect(lanes.get('email@org_a')?.room?.()).toBe(0)
    expect(demand('email@org_default')).toEqual([['email@org_default', 5]])
  })
})
