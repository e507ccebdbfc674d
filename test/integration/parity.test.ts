import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, call, codeOf } from '../support/http-client.ts'
import type { Case } from '../support/parity/case.ts'
import { CASES } from '../support/parity/cases.ts'
import { HARNESSES } from '../support/parity/index.ts'
import { createWorld, send, type World } from '../support/parity/world.ts'

/** node:http without any framework, at the root: what all others are held against. */
const [reference = never()] = HARNESSES

/** What a framework or node:http adds for the connection and for itself. */
const TRANSPORT = new Set(['connection', 'keep-alive', 'date', 'transfer-encoding', 'x-powered-by', 'vary'])
const GENERATED = /\b(?:(?:notif|log)_\d+|(?:tpl|req|key|wh|att|grp)_[\w-]{22})/g
/** The token of a link, which contains an id. */
const UNDO = /(name="undo" value=")[\w.-]+/g
const TOKEN = /\bt=[\w-]+(?:\.|%2E)[\w-]{22}/g
const RANDOM = /"(nextCursor|secret|hint)":"[^"]+"/g

interface Seen {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

/** Sends the cases in order. Generated ids get the name of the case that showed them first: one that returns is seen. */
async function play(
  world: World,
  cases: readonly Case[],
  check: (each: Case, seen: Seen, answer: Answer) => void,
) {
  const ids = new Map<string, string>()
  for (const each of cases) {
    const answer = await send(world, each)
    let count = 0
    const normalize = (text: string): string =>
      text
        .replaceAll(TOKEN, 't=…')
        .replaceAll(UNDO, '$1…')
        .replaceAll(RANDOM, '"$1":"…"')
        .replaceAll(GENERATED, (id) => {
          const name = ids.get(id) ?? `<${id.split('_')[0]} ${count++} of "${each.title}">`
          ids.set(id, name)
          return name
        })
    const headers = Object.entries(answer.headers)
      .filter(([name]) => !TRANSPORT.has(name))
      .map(([name, value]) => [name, normalize(String(value))] as const)
    check(each, { status: answer.status, headers: headers.sort(), body: normalize(answer.text) }, answer)
  }
}

const withoutRaw = CASES.filter(({ raw }) => !raw)
const onlyRaw = CASES.filter(({ raw }) => raw)

/** What the reference answers. Only it has flat errors, too: no adapter knows of them. */
const expected = new Map<string, Map<Case, Seen>>()

describe('the reference', () => {
  it.each([
    ['all', CASES, 'nested'],
    ['all, with flat errors', CASES, 'flat'],
    ['for a body that is parsed before', withoutRaw, 'nested'],
  ] as const)('%s', async (name, cases, errorFormat) => {
    const world = await createWorld(reference, { http: { errorFormat } })
    const seen = new Map<Case, Seen>()
    try {
      await play(world, cases, (each, answered, answer) => {
        seen.set(each, answered)
        const code = codeOf(answer)
        const shown = errorFormat === 'flat' && typeof code === 'string' ? code.toLowerCase() : code
        expect([each.title, answer.status, shown], answer.text).toEqual([each.title, each.status, each.code])
        expect(answer.headers['x-host']).toBe('yes')
        if (each.host) return
        expect(answer.headers['x-request-id']).toMatch(/^req_[\w-]{22}$/)
        // A picture is no text: its length is that of the bytes.
        if (answer.text === '' || answer.headers['content-type'] === 'image/gif') return
        expect(answer.headers['content-length']).toBe(String(Buffer.byteLength(answer.text)))
      })
      expected.set(name, seen)
      expect(world.faults).toMatchObject([{ error: { message: 'a secret of the house' } }])
      expect(world.errors).toHaveLength(1)
      expect(JSON.stringify([...seen.values()])).not.toContain('secret of the house')
    } finally {
      await world.close()
    }
  })
})

it('the cases hold every class of error', () => {
  const statuses = new Set(CASES.map(({ status }) => status).filter((status) => status >= 400))
  expect([...statuses].sort()).toEqual([400, 401, 403, 404, 405, 409, 413, 415, 422, 429, 500, 503])
})

const mounts = [
  { prefix: '', parser: 'none' },
  { prefix: '/notifications', parser: 'before' },
  { prefix: '/a/b', parser: 'after' },
] as const
const setups = HARNESSES.flatMap((harness) =>
  mounts.map((mount) => ({ ...mount, harness, name: harness.name })),
)

describe.each(setups)(
  '$name, mounted at $prefix, parser of the application $parser',
  ({ harness, prefix, parser }) => {
    it('answers as node:http does', async () => {
      const parsed = parser === 'before' && harness.parserReads
      const wanted = expected.get(parsed ? 'for a body that is parsed before' : 'all')
      const world = await createWorld(harness, { prefix, parser })
      const differences: string[] = []
      try {
        await play(world, parsed ? withoutRaw : CASES, (each, seen) => {
          const ownWay = each.unless !== undefined && harness.ownWays?.includes(each.unless)
          if (ownWay) expect(seen.status, each.title).toBeLessThan(500)
          else differences.push(...difference(each, seen, wanted?.get(each)))
        })
        expect(differences).toEqual([])
        expect([world.faults.length, world.errors.length]).toEqual([1, 1])
        if (parsed) {
          // Whether the application or Carillon refuses these is the application's choice.
          await play(world, onlyRaw, (each, seen) =>
            expect([each.title, seen.status >= 200]).toEqual([each.title, true]),
          )
        }
        await expect.poll(() => [world.active.count, world.admitted.count]).toEqual([0, 0])
      } finally {
        await world.close()
      }
    })
  },
)

describe.each(HARNESSES.map((harness) => ({ harness, name: harness.name })))(
  'a client that leaves $name',
  ({ harness }) => {
    const open: (() => void)[] = []
    let waiting: { place: 'admitted' | 'send'; until: Promise<void> } | undefined
    let world: World
    beforeAll(async () => {
      world = await createWorld(harness, {
        prefix: '/n',
        gate: (place) => (waiting?.place === place ? waiting.until : undefined),
      })
    })
    afterAll(async () => {
      for (const release of open) release()
      await world.close()
    })

    const text = JSON.stringify({ channel: 'email', to: 'ada@example.com', subject: 'Hello', body: 'Hi' })
    const head = (more: string): string =>
      `POST /n/v1/notify HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${world.keys.slot}\r\nContent-Type: application/json\r\n${more}\r\n\r\n`

    /** The organization may have one request under way: a slot that stayed taken would refuse all that follow. */
    async function expectNothingLeft(): Promise<void> {
      await expect.poll(() => [world.admitted.count, world.active.count]).toEqual([0, 0])
      const answer = await call(world.port, {
        method: 'POST',
        path: '/n/v1/notify',
        headers: { authorization: `Bearer ${world.keys.slot}` },
        body: text,
      })
      expect(answer.status, answer.text).toBe(201)
      await expect.poll(() => [world.admitted.count, world.active.count]).toEqual([0, 0])
      expect([world.errors, world.faults]).toEqual([[], []])
    }

    const admitted = (): Promise<void> => expect.poll(() => world.admitted.count, { interval: 5 }).toBe(1)

    it.each([
      ['before its body', `Content-Length: ${text.length}`, ''],
      ['in the middle of its body', `Content-Length: ${text.length}`, text.slice(0, 20)],
      ['in the middle of a chunk', 'Transfer-Encoding: chunked', `ff\r\n${text.slice(0, 20)}`],
    ])('%s', async (_title, header, part) => {
      for (let round = 0; round < 3; round += 1) {
        const socket = connect(world.port, '127.0.0.1')
        socket.write(head(header) + part)
        await admitted()
        socket.destroy()
        await expect.poll(() => world.admitted.count, { interval: 5 }).toBe(0)
      }
      await expectNothingLeft()
    })

    /** Sends a request, leaves when it has come to the place, and lets it go on. */
    async function leaveAt(place: 'admitted' | 'send', request: string): Promise<void> {
      waiting = { place, until: new Promise((resolve) => open.push(resolve)) }
      const socket = connect(world.port, '127.0.0.1')
      socket.write(request)
      await admitted()
      socket.destroy()
      await new Promise((resolve) => setTimeout(resolve, 20))
      waiting = undefined
      open.pop()?.()
    }

    it('while the answer is made', async () => {
      await leaveAt('send', `${head(`Content-Length: ${text.length}`)}${text}`)
      await expectNothingLeft()
    })

    it('before anything is done', async () => {
      await leaveAt(
        'admitted',
        `${head(`Content-Length: ${text.length}`).replace('/notify', '/nowhere')}${text}`,
      )
      await expectNothingLeft()
      const list = head('').replace('POST /n/v1/notify', 'GET /n/v1/templates')
      await leaveAt('admitted', list.replace('\r\n\r\n\r\n', '\r\n\r\n'))
      await expectNothingLeft()
      expect(world.admitted.lists).toBe(0)
    })

    it('never, and never ends what was refused', async () => {
      for (const path of ['/n/v1/notify', '/n/v1/notifications/batch']) {
        const start = head('Transfer-Encoding: chunked').replace('/n/v1/notify', path)
        const { answer, sent } = await pour(world.port, start, 400_000_000)
        expect(answer).toMatch(/^HTTP\/1\.1 413 /)
        expect(answer.toLowerCase()).toContain('\r\nx-host: yes\r\n')
        expect(sent).toBeLessThan(400_000_000)
      }
      await expectNothingLeft()
    })

    it('while it sends what was refused', async () => {
      const socket = connect(world.port, '127.0.0.1')
      socket.on('error', () => {})
      const answered = new Promise<string>((resolve) =>
        socket.once('data', (data) => resolve(data.toString())),
      )
      socket.write(`POST /n/v1/notify HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n10000\r\n`)
      socket.write('x'.repeat(0x1000))
      expect(await answered).toMatch(/^HTTP\/1\.1 401 /)
      socket.destroy()
      await expectNothingLeft()
    })
  },
)

function difference({ title, host }: Case, seen: Seen, wanted: Seen | undefined): string[] {
  const [one, other] = [seen, wanted].map((each) =>
    JSON.stringify(host && each !== undefined ? { ...each, headers: null } : each),
  )
  return one === other ? [] : [`${title}\n  ${one}\n  ${other}`]
}

/** Sends chunks until the server ends the connection, or `most` bytes are out. */
function pour(port: number, start: string, most: number): Promise<{ answer: string; sent: number }> {
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
  return new Promise((resolve) => {
    let answer = ''
    let sent = 0
    const socket = connect(port, '127.0.0.1')
    const more = (): void => {
      while (!socket.destroyed && sent < most) {
        sent += chunk.length
        if (!socket.write(chunk)) return
      }
      if (sent >= most) socket.destroy()
    }
    socket.write(start)
    socket.on('data', (data) => {
      answer += data.toString()
    })
    socket.on('drain', more)
    socket.on('error', () => {})
    socket.on('close', () => resolve({ answer, sent }))
    more()
  })
}

function never(): never {
  throw new Error('no harness')
}
