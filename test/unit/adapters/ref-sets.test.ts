import { expect, it } from 'vitest'
import { fromSet, toSets } from '../../../adapters/queue/ref-sets.ts'

it('puts together what is due together, a hundred at most, and never earlier than it is due', () => {
  const refs = Array.from({ length: 250 }, (_, index) => ({
    jobId: String(index),
    lane: index % 2 === 0 ? 'email' : 'wh_1',
    dueInMs: 0,
  }))
  const later = [1, 100, 101].map((dueInMs) => ({ jobId: `d${dueInMs}`, lane: 'email', dueInMs }))
  const sets = toSets([...refs, ...later])
  expect(sets.map(({ delayMs, set }) => [delayMs, fromSet(set).length])).toEqual([
    [0, 100],
    [0, 100],
    [0, 50],
    [100, 2],
    [200, 1],
  ])
  const back = sets.flatMap(({ set }) => fromSet(JSON.parse(JSON.stringify(set))))
  const plain = [...refs, ...later].map(({ jobId, lane }) => ({ jobId, lane }))
  expect(back).toHaveLength(plain.length)
  expect(back).toEqual(expect.arrayContaining(plain))
})

it('leaves out what it did not make', () => {
  expect(fromSet({ email: ['1', 2, null], sms: 'x', push: null })).toEqual([{ jobId: '1', lane: 'email' }])
  for (const other of [null, undefined, 'text', 7, []]) expect(fromSet(other)).toEqual([])
  const [set] = toSets([{ jobId: '1', lane: '__proto__', dueInMs: 0 }])
  expect(fromSet(JSON.parse(JSON.stringify(set?.set)))).toEqual([{ jobId: '1', lane: '__proto__' }])
})
