import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { MimePieces } from '../../../../adapters/channels/smtp/mime.ts'
import * as stream from '../../../../adapters/channels/smtp/mime-stream.ts'
import { finish } from '../../../../src/core/loop/steps.ts'

const { mimeLength } = stream
const mimeStream = (pieces: MimePieces) => stream.mimeStream(pieces, finish)

describe('mimeStream', () => {
  it('holds no file as a whole in base64', async () => {
    const stream = mimeStream(['head', new Uint8Array(30_000_000), 'end'])
    let total = 0
    for await (const chunk of stream) {
      expect(chunk.length).toBeLessThan(100_000)
      total += chunk.length
    }
    expect(total).toBe('headend'.length + 40_000_000 + 2 * Math.floor(40_000_000 / 76))
  })

  it.each([0, 1, 2, 3, 56, 57, 58, 114, 57 * 1024, 57 * 1024 + 1, 200_000])(
    'is as long as it says with a file of %i bytes',
    async (bytes) => {
      const pieces = ['head', new Uint8Array(bytes), 'middle', new Uint8Array(bytes + 1), 'end']
      let total = 0
      for await (const chunk of mimeStream(pieces)) total += chunk.length
      expect(mimeLength(pieces)).toBe(total)
    },
  )

  it('was not read where somebody began to read it and gave up in the same turn', async () => {
    const stream = mimeStream(['content'])
    stream.resume()
    await Promise.resolve()
    expect(stream.readableDidRead).toBe(false)
    await setImmediate()
    await setImmediate()
    expect(stream.readableDidRead).toBe(true)
  })

  it('ends in silence when it is not wanted any more', async () => {
    const stream = mimeStream([new Uint8Array(1_000_000)])
    const failures: unknown[] = []
    stream.on('error', (error) => failures.push(error)).resume()
    stream.destroy()
    await setImmediate()
    await setImmediate()
    expect([failures, stream.readableDidRead, stream.destroyed]).toEqual([[], false, true])
  })
  it('fails where the bytes of a file are gone, and nothing else does', async () => {
    const bytes = new Uint8Array(1_000)
    const stream = mimeStream(['head', bytes])
    const failures: Error[] = []
    stream.on('error', (error) => failures.push(error))
    structuredClone(bytes, { transfer: [bytes.buffer] })
    stream.resume()
    await setImmediate()
    await setImmediate()
    expect(failures.map(({ message }) => message)).toEqual([expect.stringContaining('detached')])
  })
})
