import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Consumer, createConsumer } from './consumer.ts'
import { namedBlocks } from './markdown.ts'

/* The plug-ins of the guides, written with the package alone, keep their contracts. docs.test.ts compiles them. */

let consumer: Consumer
const sources = new Map<string, string>()

beforeAll(async () => {
  consumer = await createConsumer()
  for (const about of ['limiter', 'provider', 'queue', 'telemetry']) {
    for (const { name, code } of await namedBlocks(`docs/tasks/custom-${about}.md`)) sources.set(name, code)
  }
  for (const [name, code] of sources) await consumer.write(name, code)
})

afterAll(() => consumer?.remove())

/** Runs a contract with node:test, and returns how many checks passed. */
async function passed(file: string): Promise<number> {
  const printed = await consumer.node('--test', '--test-reporter=tap', file)
  expect(printed).toMatch(/^# fail 0$/m)
  return Number(/^# pass (\d+)$/m.exec(printed)?.[1])
}

describe('the provider of mails of the guide', () => {
  test('keeps its contract with 65 lines', async () => {
    expect((sources.get('acme-mail.ts') ?? '').trimEnd().split('\n').length).toBeLessThanOrEqual(65)
    expect(await passed('acme-mail.test.ts')).toBeGreaterThan(45)
  })

  test('posts a mail with all that a mail may have', async () => {
    const { printed } = await posted(`
      await notifier.send({
        channel: 'email',
        to: 'ada@bücher.example',
        subject: 'Grüße',
        body: '<p>Hi <b>Ada</b>, <a href="https://acme.example/">start</a>.</p><img src="cid:logo" alt="Acme">',
        format: 'html',
        email: {
          from: 'News <news@acme.example>',
          replyTo: ['Help <help@bücher.example>', 'sales@acme.example'],
          cc: ['Bob <bob@example.com>', 'ADA@xn--bcher-kva.example'],
          bcc: 'carl@example.com',
          headers: { 'X-Campaign': 'Frühling' },
          attachments: [
            { filename: 'Größe.pdf', contentType: 'application/pdf', content: Buffer.from([0, 255]) },
            { filename: 'logo.png', contentType: 'image/png', content: Buffer.from([1]), cid: 'logo' },
          ],
        },
      })`)
    expect(printed).toEqual({
      from: { name: 'News', address: 'news@acme.example' },
      to: 'ada@xn--bcher-kva.example',
      cc: [{ name: 'Bob', address: 'bob@example.com' }],
      bcc: [{ name: '', address: 'carl@example.com' }],
      replyTo: [
        { name: 'Help', address: 'help@xn--bcher-kva.example' },
        { name: '', address: 'sales@acme.example' },
      ],
      subject: 'Grüße',
      text: 'Hi Ada, start (https://acme.example/).\n\nAcme',
      html: expect.stringContaining('cid:logo'),
      headers: {
        'Auto-Submitted': 'auto-generated',
        'X-Unit': 'shop',
        'X-Campaign': 'Frühling',
        'Message-ID': expect.stringMatching(/^<notif_\w+\.\w+@acme\.example>$/),
      },
      files: [
        { name: 'Größe.pdf', type: 'application/pdf', data: 'AP8=' },
        { name: 'logo.png', type: 'image/png', data: 'AQ==', cid: 'logo' },
      ],
    })
  })

  test('adds the headers of an unsubscription, and refuses foreign senders', async () => {
    const { printed, said } = await posted(`
      const hi = { channel: 'email', to: 'ada@example.com', subject: 'Hi', body: 'Hi' }
      const foreign = { ...hi, email: { from: 'ceo@other.example' } }
      await notifier.send(foreign).catch(({ code, details }) => said.push(code, details.field))
      await notifier.send({ ...hi, email: { unsubscribe: true } })`)
    expect(printed.headers).toMatchObject({
      'List-Unsubscribe': expect.stringMatching(/^<https:\/\/app\.example\/.+>$/),
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    })
    expect(said).toEqual(['invalid_sender', 'email.from'])
  })

  test('names the option that is wrong', async () => {
    const code = `
      import { acmeMail } from './acme-mail.ts'
      for (const wrong of [{ from: 'no address' }, { from: 'a@acme.example', senders: 'acme.example' }, {}]) {
        try { acmeMail({ apiKey: 'k', ...wrong }) } catch (error) { console.log(error.code, error.message) }
      }`
    const lines = (await consumer.node('--input-type=module', '-e', code)).trim().split('\n')
    expect(lines).toEqual([
      expect.stringMatching(/^invalid_configuration acmeMail: "from"/),
      expect.stringMatching(/^invalid_configuration acmeMail: "senders"/),
      expect.stringMatching(/^invalid_configuration acmeMail: "from"/),
    ])
  })
})

/** Runs code with a notifier over the provider of mails. Returns what it said, and the last request to the API. */
async function posted(run: string): Promise<{
  readonly printed: Readonly<Record<string, unknown>>
  readonly said: unknown[]
}> {
  const code = `
    import { createNotifier } from 'carillon'
    import { providerServer } from 'carillon/testing'
    import { acmeMail } from './acme-mail.ts'
    const server = await providerServer({ accept: (_, number) => ({ status: 202, body: { id: 'm' + number } }) })
    const mail = { from: 'Acme <no-reply@acme.example>', senders: ['acme.example'], headers: { 'X-Unit': 'shop' } }
    const email = acmeMail({ apiKey: 'k', url: server.url, ...mail })
    const notifier = createNotifier({ channels: { email }, publicUrl: 'https://app.example', secret: 's'.repeat(32) })
    await notifier.start()
    const said = []
    ${run}
    while (server.taken.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
    console.log(JSON.stringify({ printed: JSON.parse(String(server.taken.at(-1).body)), said }))
    await notifier.stop()
    await server.close()`
  return JSON.parse(
    await consumer.node('--disable-warning=ExperimentalWarning', '--input-type=module', '-e', code),
  )
}

test('the limiter of the guide keeps its contract with 65 lines', async () => {
  expect((sources.get('file-limiter.ts') ?? '').trimEnd().split('\n').length).toBeLessThanOrEqual(65)
  expect(await passed('file-limiter.test.ts')).toBeGreaterThan(30)
})

const METRICS = [
  'carillon.accepted.email:1|c',
  'carillon.attempt.email.recorder:n|ms',
  'carillon.attempts.email.recorder.accepted:1|c',
  'carillon.running.email.recorder:0|g',
  'carillon.storage_answers:1|g',
  'carillon.wait.email:n|ms',
]

test('the telemetry of the guide sends what it is told, and what it reads', async () => {
  const code = `
    import { createSocket } from 'node:dgram'
    import { once } from 'node:events'
    import { createNotifier } from 'carillon'
    import { recordingProvider } from 'carillon/testing'
    import { statsd } from './statsd.ts'
    const server = createSocket('udp4')
    await once(server.bind(0, '127.0.0.1'), 'listening')
    const lines = new Set()
    server.on('message', (line) => lines.add(String(line).replace(/:[0-9]+[|]ms$/, ':n|ms')))
    const telemetry = statsd({ port: server.address().port, everyMs: 20 })
    const notifier = createNotifier({ channels: { email: recordingProvider() }, telemetry })
    await notifier.start()
    const { id } = await notifier.send({ channel: 'email', to: 'ada@example.com', body: 'Hi' })
    await notifier.waitFor(id)
    const missing = () => ${JSON.stringify(METRICS)}.filter((line) => !lines.has(line))
    const signal = AbortSignal.timeout(20_000)
    while (missing().length > 0 && !signal.aborted) await new Promise((resolve) => setTimeout(resolve, 10))
    await notifier.stop()
    server.close()
    console.log(JSON.stringify(missing()))`
  const printed = await consumer.node(
    '--disable-warning=ExperimentalWarning',
    '--input-type=module',
    '-e',
    code,
  )
  expect(JSON.parse(printed)).toEqual([])
})

test('the telemetry of the guide stops while the storage is asked', async () => {
  const code = `
    import { statsd } from './statsd.ts'
    const asked = Promise.withResolvers()
    const answer = Promise.withResolvers()
    const telemetry = statsd({ everyMs: 1 })
    await telemetry.start({ providers: () => [], backlog: () => (asked.resolve(), answer.promise) })
    const alive = setInterval(() => {}, 1_000)
    await asked.promise
    await telemetry.stop()
    answer.resolve({ lanes: [] })
    await new Promise((resolve) => setTimeout(resolve, 10))
    clearInterval(alive)`
  await consumer.node('--disable-warning=ExperimentalWarning', '--input-type=module', '-e', code)
})
