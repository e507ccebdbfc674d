import { expect, it } from 'vitest'
import { soundOutcome } from '../../../src/domain/outcome.ts'

it.each([
  [1_767_225_600_123, 1_767_225_600_123],
  [1.5, 1],
  [0, undefined],
  [-1, undefined],
  [9e15, undefined],
  [Number.NaN, undefined],
  ['2026-01-01', undefined],
])('since %s becomes %s: whatever a plug-in says is a date', (since, expected) => {
  const outcome = soundOutcome({ kind: 'rejected', code: 'device_unregistered', scope: 'recipient', since })
  expect(outcome).toMatchObject({ kind: 'rejected', code: 'device_unregistered' })
  expect(outcome?.kind === 'rejected' && outcome.since).toBe(expected)
})
