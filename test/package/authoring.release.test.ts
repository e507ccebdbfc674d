import { transform } from 'esbuild'
import { type ParsedMail, simpleParser } from 'mailparser'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../examples/servers/free-port.ts'
import { type Consumer, createConsumer } from './consumer.ts'
import { codeBlocks, namedBlocks } from './markdown.ts'

const GUIDE = 'docs/tasks/authoring.md'
const quiet = '--disable-warning=ExperimentalWarning'

let consumer: Consumer
let server: SMTPServer
const mails: ParsedMail[] = []

beforeAll(async () => {
  consumer = await createConsumer(['nodemailer', 'react', 'react-dom', '@react-email/render'])
  for (const { name, code } of await namedBlocks(GUIDE)) await consumer.write(name, code)
  server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData(stream, _session, callback) {
      simpleParser(stream).then((mail) => callback(null, String(mails.push(mail))), callback)
    },
  })
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  process.env.SMTP_PORT = String(port)
})

afterAll(async () => {
  delete process.env.SMTP_PORT
  await new Promise<void>((resolve) => server.close(() => resolve()))
  await consumer?.remove()
})

/** What a reader finds: a sentence of the HTML and the text, and the footer. */
const EXPECTED = [
  {
    to: 'ada@example.com',
    lang: 'en-GB',
    subject: 'Welcome, Ada',
    says: /Hello Ada, good to have you here\./,
    footer: 'an account at Acme',
  },
  {
    to: 'ada@example.com',
    lang: 'en-GB',
    subject: 'Choose a new password',
    says: /https:\/\/acme\.example\/reset\?token(=|&#61;)abc/,
    footer: 'an account at Acme',
  },
  {
    to: 'ada@example.com',
    lang: 'en-GB',
    subject: 'Invoice 4711',
    says: /Bell[\s\S]*2 items: €1,234\.50\. Please pay by 24 December 2026\./,
    footer: 'an account at Acme',
  },
  {
    to: 'max@example.com',
    lang: 'de-AT',
    subject: 'Willkommen, Max',
    says: /Hallo Max, schön, dass Sie da sind\./,
    footer: 'ein Konto bei Acme',
  },
  {
    to: 'max@example.com',
    lang: 'de-AT',
    subject: 'Wählen Sie ein neues Passwort',
    says: /https:\/\/acme\.example\/reset\?token(=|&#61;)abc/,
    footer: 'ein Konto bei Acme',
  },
  {
    to: 'max@example.com',
    lang: 'de-AT',
    subject: 'Rechnung 4711',
    says: /Bell[\s\S]*2 Artikel: €\s1\.234,50\. Bitte zahlen Sie bis 24\. Dezember 2026\./,
    footer: 'ein Konto bei Acme',
  },
] as const

async function sent(file: string): Promise<void> {
  mails.length = 0
  const printed = await consumer.node(quiet, file)
  expect(printed.match(/ sent$/gm)).toHaveLength(EXPECTED.length)
  // In any order: each mail has its own connection.
  const subjects = mails.map(({ subject }) => String(subject))
  expect(subjects.sort()).toEqual(EXPECTED.map(({ subject }) => subject).sort())
  for (const { to, lang, subject, says, footer } of EXPECTED) {
    const { to: recipient, html, text, from } = mails.find((mail) => mail.subject === subject) as ParsedMail
    expect([recipient, from]).toMatchObject([{ text: to }, { text: '"Acme" <hello@acme.example>' }])
    for (const body of [String(html), text]) {
      expect(body).toMatch(says)
      expect(body).toContain(footer)
      expect(body).toContain('Acme')
    }
    expect(html).toContain(`<html lang="${lang}" dir="ltr"`)
  }
}

test('the stored templates of the guide make three mails in two languages', async () => {
  await consumer.node(quiet, 'texts.ts')
  await consumer.node(quiet, 'texts.ts')
  expect(await consumer.node('--test', 'texts.test.ts')).toMatch(/pass 1\n[\s\S]*fail 0\n/)
  await sent('send.ts')
  const versions = `
    import { notifier } from './mailer.ts'
    await notifier.start({ deliver: false })
    const { items } = await notifier.templates.list()
    console.log(items.map(({ name, version }) => name + ' ' + version).sort().join())
    await notifier.stop()`
  const printed = await consumer.node(quiet, '--input-type=module', '-e', versions)
  expect(printed).toBe('invoice 1,password-reset 1,welcome 1\n')
})

test('the templates in React Email of the guide make the same mails', async () => {
  const [tsx] = await codeBlocks(GUIDE, 'tsx')
  const { code } = await transform(tsx?.code ?? '', { loader: 'tsx', jsx: 'automatic' })
  await consumer.write('mails.js', code)
  await sent('react.ts')
})
