import { describe, expect, it } from 'vitest'
import type { JudgeContext, Verdict } from '../../../../src/core/gate/verdict.ts'
import { plainCategory } from '../../../../src/core/notification/category.ts'
import type { QuietHours } from '../../../../src/core/notification/quiet-hours.ts'
import { judgeByPreferences } from '../../../../src/features/preferences/judge.ts'
import { kindOf } from '../../../support/kinds.ts'
import { HASHES } from '../../../support/person-hashes.ts'

const NIGHT = Date.parse('2026-01-15T23:00:00Z')
const quietHours: QuietHours = { zone: 'Europe/Zurich', windows: [{ from: '22:00', to: '07:00' }] }
const wait: Verdict = {
  kind: 'wait',
  until: Date.parse('2026-01-16T06:00:00Z'),
  reason: 'Quiet hours until 07:00 (Europe/Zurich).',
}
const NO_RECORDS: JudgeContext = {
  records: { get: (_kind, keys) => Promise.resolve(keys.map(() => null)) } as JudgeContext['records'],
  inside: false,
}

/** @param stepMs what the clock goes on whenever it is read */
function setUp({ quiet, used = false, stepMs }: { quiet: boolean; used?: boolean; stepMs: number }) {
  let time = 0
  const monotonic = () => {
    time += stepMs
    return time
  }
  const judge = judgeByPreferences({ of: () => used, mark() {} }, HASHES, { monotonic })
  const asked = Array.from({ length: 100 }, (_, at) => ({
    organizationId: 'org_a',
    kind: kindOf('email'),
    to: `${at}@example.com`,
    recipient: null,
    category: { ...plainCategory('news'), quietHours: quiet ? quietHours : null },
    metadata: null,
    at: NIGHT,
    copy: false,
  }))
  return { verdicts: judge(asked, NO_RECORDS), readings: () => time / stepMs }
}

/** The result, and the turns of the event loop until it is there. */
async function turnsOf<Result>(work: Promise<Result>): Promise<{ result: Result; turns: number }> {
  let [ended, turns] = [false, 0]
  const count = () => {
    if (ended) return
    turns += 1
    setImmediate(count)
  }
  setImmediate(count)
  const result = await work
  ended = true
  return { result, turns }
}

describe('the judge of quiet hours', () => {
  it.each([false, true])('lets the event loop turn while it works on many (records: %s)', async (used) => {
    const { verdicts } = setUp({ quiet: true, used, stepMs: 1 })
    const { result, turns } = await turnsOf(Promise.resolve(verdicts))
    expect(result).toEqual(Array(100).fill(wait))
    expect(turns).toBeGreaterThanOrEqual(20)
  })

  it('answers at once if it takes no time', () => {
    expect(setUp({ quiet: true, stepMs: 0.01 }).verdicts).toEqual(Array(100).fill(wait))
  })

  it('neither waits nor reads the clock for messages without quiet hours', async () => {
    const { verdicts, readings } = setUp({ quiet: false, stepMs: 100 })
    expect(verdicts).toEqual(Array(100).fill({ kind: 'go' }))
    expect(readings()).toBe(0)
    const stored = setUp({ quiet: false, used: true, stepMs: 100 })
    const { turns } = await turnsOf(Promise.resolve(stored.verdicts))
    expect([turns, stored.readings()]).toEqual([0, 0])
  })
})
