import { expect, it } from 'vitest'
import { contentsStep } from '../../../../adapters/storage/contents-step.ts'

const MEBIBYTE = 1024 * 1024
const events = [
  { of: 'a', bytes: 10 },
  { of: null, bytes: 2 * MEBIBYTE },
  { of: 'b', bytes: MEBIBYTE },
  { of: 'c', bytes: 10 },
]

it('ends a step when its contents have enough bytes, and reads each once', () => {
  const step = contentsStep([...events.slice(0, 2), ...events], ({ of, bytes }) =>
    of === null ? null : [of, bytes],
  )
  expect(step).toEqual({ last: events[2], contents: ['a', 'b'] })
  expect(contentsStep([], () => null)).toEqual({ last: undefined, contents: [] })
})
