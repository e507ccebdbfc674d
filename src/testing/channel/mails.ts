import assert from 'node:assert/strict'
import type { EmailParts } from '../../core/channels/email-content.ts'
import type { Message } from '../../core/ports/provider.ts'
import { Absent } from '../test-api.ts'
import { type Bench, type Check, TEXT } from './bench.ts'
import type { ProviderHarness, TakenMail } from './harness.ts'

/** A recipient of a provider that names no kind. */
const ADDRESS = /^[\w.+-]+@[\w-]+(\.[\w-]+)+$/

const COPY = 'bob@example.org'
const HIDDEN = 'carl@example.org'
const REPLY = 'help@example.org'
const HTML = '<p>Grüße <b>🎉</b> an Ada</p>'
const MARKUP = /<\/?(b|p)>/

/** Each byte once, and none: encodings break on one or the other. */
const FILES: NonNullable<EmailParts['attachments']> = [
  {
    filename: 'invoice 1.pdf',
    contentType: 'application/pdf',
    content: Uint8Array.from({ length: 256 }, (_, index) => 255 - index),
  },
  { filename: 'scan.png', contentType: 'image/png', content: Buffer.from('\r\n.\r\n--\r\n\0') },
]

/** A provider carries every part that it does not refuse. */
export function mailChecks(check: Check): void {
  function checkMail(name: string, run: (bench: Bench, sent: Sent) => Promise<void>): void {
    check(`in a mail, ${name}`, async (bench) => {
      if (!sendsMails(bench)) throw new Absent('The provider sends no mails.')
      await run(bench, (more) => mailOf(bench, more))
    })
  }

  checkMail('a text is a text, and nothing in it is HTML', async (_, sent) => {
    const body = `${TEXT}, 1 <b>2</b> &amp; 3`
    const { text, html } = await sent({ body, format: 'text' })
    assertHolds(text, body)
    assert.doesNotMatch(html ?? '', MARKUP)
  })

  checkMail('HTML is HTML, and the text alternative is the one that was given', async (_, sent) => {
    const { text, html } = await sent({ body: HTML, format: 'html', text: `${TEXT} in words` })
    assertHolds(html, HTML)
    assertHolds(text, `${TEXT} in words`)
    assert.doesNotMatch(text ?? '', MARKUP)
  })

  checkMail('HTML without a text alternative is not sent as text', async (_, sent) => {
    const { text, html } = await sent({ body: HTML, format: 'html' })
    assertHolds(html, HTML)
    assert.doesNotMatch(text ?? '', MARKUP)
  })

  for (const [what, email, expected] of [
    ['cc', { cc: [{ address: COPY }] }, { cc: [COPY] }],
    ['bcc, which no header shows', { bcc: [{ address: HIDDEN }] }, { bcc: [HIDDEN] }],
    ['replyTo', { replyTo: [{ address: REPLY }] }, { replyTo: [REPLY] }],
    ['attachments, byte by byte', { attachments: FILES }, { attachments: FILES.map(fileOf) }],
  ] as const) {
    checkMail(`it has ${what}`, async ({ provider, message }, sent) => {
      const refusal = provider.refuses?.(storedOf(email), message.to) ?? null
      if (refusal !== null) throw new Absent(`The provider refuses it: ${refusal.message}`)
      const { cc, bcc, replyTo, attachments } = await sent({ email: { ...message.email, ...email } })
      const taken = { cc, bcc, replyTo, attachments: attachments.map(fileOf) }
      assert.deepEqual(taken, { cc: [], bcc: [], replyTo: [], attachments: [], ...expected })
    })
  }
}

type Sent = (more: Partial<Message>) => Promise<TakenMail>

function sendsMails({ provider: { kind }, message: { to } }: ProviderHarness): boolean {
  return kind === undefined ? ADDRESS.test(to) : kind.name === 'email'
}

/** Sends one mail; returns the mail that the service took. */
async function mailOf(bench: Bench, more: Partial<Message>): Promise<TakenMail> {
  const outcome = await bench.send('1', more)
  assert.equal(outcome.kind, 'accepted', JSON.stringify(outcome))
  const [taken] = await bench.taken()
  assert.ok(
    taken?.mail,
    'the harness tells no mail: let "take" (or "taken") return the field "mail", read from what the service received',
  )
  return taken.mail
}

function assertHolds(actual: string | null, expected: string): void {
  const lines = actual?.replaceAll('\r\n', '\n') ?? null
  assert.ok(lines?.includes(expected), `${JSON.stringify(expected)} is not in ${JSON.stringify(actual)}`)
}

function fileOf({ filename, contentType, content }: TakenMail['attachments'][number]) {
  return { filename, contentType, content: Buffer.from(content).toString('base64') }
}

/** The parts as passed to `refuses`. */
function storedOf({ attachments, ...rest }: EmailParts) {
  return attachments === undefined ? rest : { ...rest, attachments: attachments.map(fileOf) }
}
