import { expect, it } from 'vitest'
import type { ClaimedJob } from '../../../src/ports/storage/claim.ts'
import type { Attempts } from '../../../src/services/delivery/attempts.ts'
import { createLanes, type LaneSetOptions } from '../../../src/services/delivery/lanes.ts'
import { createStop } from '../../../src/services/delivery/stop.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { recordingChannel } from '../../../src/testing/recording-channel.ts'
import { engineParts } from '../../support/engine-parts.ts'

it('keeps count of what an endpoint has under way, however many others have been seen since', () => {
  const attempts: Partial<Attempts> = {
    run: (_job, work) => work(createStop()),
    begin: () => new Promise(() => {}),
  }
  const { routes } = engineParts(recordingChannel(), fakeClock())
  const lanes = createLanes({
    routes,
    events: { attempts } as LaneSetOptions['events'],
    notifications: {} as LaneSetOptions['notifications'],
    group: () => ({ states: [], choose: () => undefined as never }),
    wakeIn() {},
    freed() {},
  })
  const job = { kind: 'event', organizationId: 'org_a', delivery: { endpoint: { id: 'wh_slow' } } }
  for (let running = 0; running < 4; running += 1) void lanes.get('wh_slow')?.run(job as ClaimedJob)
  for (let other = 0; other < 2_000; other += 1) lanes.get(`wh_${other}`)
  expect(lanes.demand(['wh_slow', 'wh_1'])).toMatchObject([{ free: 6 }, { free: 10 }])
})
