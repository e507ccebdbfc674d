import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { NotifierError } from '../../src/core/errors/notifier-error.ts'
import { REQUESTS } from '../../src/core/limits/route-limits.ts'
import type { Route } from '../../src/core/rest/route.ts'
import { exchange } from '../support/http-client.ts'
import { HARNESSES } from '../support/parity/index.ts'
import { createWorld, type World } from '../support/parity/world.ts'

/** What a client leaves unread in the sockets of both sides, and more. */
const BUFFERS = 48 * 1024 * 1024
const LINE = 'x'.repeat(64 * 1024)

/** The source of the lines: how many it has made, and how often it was ended. */
let made = 0
let ends = 0
let source: () => AsyncIterable<object>

function lines(count: number, each: (index: number) => unknown = () => undefined): void {
  source = async function* () {
    try {
      for (let index = 0; index < count; index += 1) {
        made += 1
        yield { index, text: LINE, ...((await each(index)) as object | undefined) }
      }
    } finally {
      ends += 1
    }
  }
}

const route: Route<object> = {
  operation: 'readLines',
  summary: 'Read lines',
  tag: { name: 'lines', description: 'Lines.' },
  method: 'POST',
  paths: ['/v1/lines'],
  belongsTo: 'organization',
  permission: 'Full Access',
  limit: REQUESTS,
  status: 200,
  body: z.strictObject({}),
  response: z.object({}),
  handler: async () => ({ lines: source() }),
}

beforeEach(() => {
  made = 0
  ends = 0
})

describe.each(HARNESSES.map((harness) => ({ harness, name: harness.name })))(
  'lines by $name',
  ({ harness }) => {
    let world: World
    beforeAll(async () => {
      world = await createWorld(harness, { prefix: '/n', routes: [route] })
    })
    afterAll(() => world.close())
    beforeEach(() => {
      world.faults.length = 0
    })

    /** The organization may have one request under way. */
    const key = (): { authorization: string } => ({ authorization: `Bearer ${world.keys.slot}` })
    async function ask() {
      const headers = { ...key(), 'content-type': 'application/json' }
      const response = await fetch(`${world.url}/n/v1/lines`, { method: 'POST', headers, body: '{}' })
      return { status: response.status, headers: response.headers, text: await response.text() }
    }

    const head = (): string =>
      `POST /n/v1/lines HTTP/1.1\r\nHost: x\r\nAuthorization: ${key().authorization}\r\nContent-Length: 2\r\n` +
      'Content-Type: application/json\r\n\r\n{}'

    function open(): Socket {
      const socket = connect(world.port, '127.0.0.1')
      socket.on('error', () => {})
      socket.write(head())
      return socket
    }

    async function expectNothingLeft(): Promise<void> {
      await expect.poll(() => [ends, world.admitted.count, world.active.count]).toEqual([1, 0, 0])
      lines(1)
      expect((await ask()).status).toBe(200)
      await expect.poll(() => world.admitted.count).toBe(0)
    }

    it('come all, in order', async () => {
      lines(100)
      const answer = await ask()
      expect(answer.status, answer.text.slice(0, 200)).toBe(200)
      const { headers } = answer
      const names = ['content-type', 'content-length', 'x-host']
      expect(names.map((name) => headers.get(name))).toEqual(['application/x-ndjson', null, 'yes'])
      expect(headers.get('x-request-id')).toMatch(/^req_/)
      const got = answer.text.split('\n')
      expect(got.pop()).toBe('')
      expect(got.map((line) => JSON.parse(line).index)).toEqual(
        Array.from({ length: 100 }, (_, index) => index),
      )
      await expectNothingLeft()
    })

    it('may be none', async () => {
      lines(0)
      expect(await ask()).toMatchObject({ status: 200, text: '' })
      await expectNothingLeft()
    })

    it('wait for a client that reads slowly', async () => {
      lines(Number.POSITIVE_INFINITY)
      const socket = open()
      await new Promise((resolve) => socket.once('data', resolve))
      socket.pause()
      let before = -1
      while (before !== made) {
        before = made
        await wait(200)
      }
      expect(made * LINE.length).toBeLessThan(BUFFERS)
      expect(world.admitted.count).toBe(1)
      socket.resume()
      await expect.poll(() => made, { timeout: 20_000 }).toBeGreaterThan(before * 2)
      socket.destroy()
      await expectNothingLeft()
    })

    it('end with a client that leaves', async () => {
      lines(Number.POSITIVE_INFINITY)
      const socket = open()
      await new Promise((resolve) => socket.once('data', resolve))
      socket.destroy()
      await expectNothingLeft()
      expect(world.faults).toEqual([])
    })

    it('end with a client that left before the first one', async () => {
      let go = (): void => {}
      const gate = new Promise<void>((resolve) => {
        go = resolve
      })
      lines(Number.POSITIVE_INFINITY, () => gate)
      const socket = open()
      await expect.poll(() => made).toBe(1)
      socket.destroy()
      await wait(20)
      go()
      await expectNothingLeft()
    })

    it('break off visibly where a later one fails', async () => {
      lines(100, (index) => {
        if (index === 50) throw new Error('a secret of the house')
      })
      const text = await exchange(world.port, head())
      expect(text).toMatch(/^HTTP\/1\.1 200 /)
      expect(text).toContain('"index":40')
      expect(text).not.toMatch(/\r\n0\r\n\r\n$/)
      expect(text).not.toContain('secret of the house')
      expect(world.faults).toMatchObject([{ error: { message: 'a secret of the house' } }])
      lines(100, (index) => {
        if (index === 50) throw new Error('a secret of the house')
      })
      await expect(ask()).rejects.toThrow()
      ends -= 1
      await expectNothingLeft()
    })

    it('are an error where the first one fails', async () => {
      lines(100, () => {
        throw new NotifierError('not_found')
      })
      const answer = await ask()
      expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([404, 'not_found'])
      await expectNothingLeft()
    })
  },
)
