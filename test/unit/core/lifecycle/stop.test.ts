import { describe, expect, it } from 'vitest'
import { createStop, postSignal } from '../../../../src/core/delivery/stop.ts'

describe('a stop, as a post looks at it', () => {
  it('ends the post once', () => {
    const stop = createStop()
    const signal = postSignal(stop)
    let ended = 0
    signal.addEventListener('abort', () => {
      ended += 1
    })
    expect([signal.aborted, ended]).toEqual([false, 0])
    stop.abort(new Error('The lease was lost.'))
    stop.abort(new Error('The notifier is stopping.'))
    expect([signal.aborted, ended]).toEqual([true, 1])
  })

  it('ends one that comes later at once', () => {
    const stop = createStop()
    stop.abort(new Error('The notifier is stopping.'))
    const signal = postSignal(stop)
    let ended = 0
    expect(signal.aborted).toBe(true)
    signal.addEventListener('abort', () => {
      ended += 1
    })
    expect(ended).toBe(1)
  })

  it('leaves one alone that is over', () => {
    const stop = createStop()
    const signal = postSignal(stop)
    let ended = 0
    const listener = (): void => {
      ended += 1
    }
    signal.addEventListener('abort', listener)
    signal.removeEventListener('abort', listener)
    stop.abort(new Error('The notifier is stopping.'))
    expect(ended).toBe(0)
  })
})
