import { expect, it } from 'vitest'
import { providerHttp } from '../../../adapters/channels/kit/http/provider-http.ts'
import type { Message, Provider } from '../../../src/core/ports/provider.ts'
import { httpProviderHarness } from '../../../src/testing/channel/http-harness.ts'
import { providerContract } from '../../../src/testing/provider-contract.ts'
import { takenFiles, takenMail } from '../../support/api-mail.ts'

/* What the contract checks of mails: a provider from outside posts them as JSON, right or wrong. */

/** What is posted. */
interface Posted {
  readonly to: string
  readonly cc: readonly string[]
  readonly bcc: readonly string[]
  readonly replyTo: readonly string[]
  readonly text: string | null
  readonly html: string | null
  readonly files: readonly { readonly name: string; readonly type: string; readonly data: string }[]
}

function posted(message: Message): Posted {
  const { attachments, ...mail } = takenMail(message)
  const files = attachments.map(({ filename, contentType, content }) => ({
    ...{ name: filename, type: contentType, data: Buffer.from(content).toString('base64') },
  }))
  return { to: message.to, ...mail, text: mail.text ?? 'See the HTML.', files }
}

type Change = (mail: Posted, message: Message) => object

function harnessOf(change: Change, more: Partial<Provider> = {}, mail: 'told' | 'untold' = 'told') {
  return httpProviderHarness({
    provider(url) {
      const http = providerHttp({ maxConnections: 4, timeoutMs: 2_000, secrets: [] })
      return {
        name: 'post',
        maxConcurrent: 4,
        send: (message, { signal }) =>
          http.send(
            {
              url,
              headers: {},
              body: JSON.stringify({ ...posted(message), ...change(posted(message), message) }),
              signal,
            },
            ({ status }) => (status === 200 ? { kind: 'accepted' } : null),
          ),
        close: () => http.close(),
        ...more,
      }
    },
    message: { to: 'ada@example.com', subject: 'Hello', body: '', format: 'text' },
    secrets: [],
    accept: () => ({ status: 200, body: {} }),
    take({ body }) {
      const { to, files, ...rest } = JSON.parse(String(body))
      const taken = { to, body: rest.text ?? '', id: null }
      if (mail === 'untold') return taken
      return { ...taken, mail: { ...rest, attachments: takenFiles(files, 'name', 'type', 'data') } }
    },
  })
}

/** The checks of mails that fail, each with what it says, and those that are skipped. */
async function run(...given: Parameters<typeof harnessOf>) {
  const checks: [string, (context: { skip(reason?: string): void }) => Promise<void>][] = []
  providerContract(
    (name, check) => name.startsWith('in a mail') && checks.push([name, check]),
    () => harnessOf(...given),
    [],
  )
  const failed: string[] = []
  const skipped: string[] = []
  for (const [name, check] of checks) {
    await check({ skip: (reason) => skipped.push(`${name}: ${reason}`) }).catch((error: Error) =>
      failed.push(`${name}: ${error.message}`),
    )
  }
  return { failed, skipped }
}

it('lets pass a provider that carries everything', async () => {
  expect(await run(() => ({}))).toEqual({ failed: [], skipped: [] })
})

it('skips what a provider refuses to carry', async () => {
  const refuses: Provider['refuses'] = (parts) =>
    !Object.hasOwn(Object(parts), 'bcc')
      ? null
      : { code: 'invalid_content', message: 'There are no hidden copies.' }
  const { failed, skipped } = await run(() => ({ bcc: [] }), { refuses })
  expect(failed).toEqual([])
  expect(skipped).toEqual([expect.stringMatching(/bcc.*There are no hidden copies\./)])
})

it('asks for the mail that the service understood', async () => {
  const { failed } = await run(() => ({}), {}, 'untold')
  expect(failed).toHaveLength(7)
  for (const why of failed) expect(why).toContain('let "take" (or "taken") return the field "mail"')
})

it.each<[string, Change, string]>([
  ['drops attachments', () => ({ files: [] }), 'it has attachments'],
  ['drops an attachment', ({ files }) => ({ files: files.slice(1) }), 'it has attachments'],
  [
    'takes the bytes of attachments for text',
    (_, { email }) => ({
      files: email?.attachments?.map(({ filename: name, contentType: type, content }) => ({
        ...{ name, type, data: Buffer.from(Buffer.from(content).toString()).toString('base64') },
      })),
    }),
    'it has attachments',
  ],
  [
    'changes names of files',
    ({ files }) => ({ files: files.map((file) => ({ ...file, name: file.name.replace(' ', '_') })) }),
    'it has attachments',
  ],
  ['drops cc', () => ({ cc: [] }), 'it has cc'],
  ['drops bcc', () => ({ bcc: [] }), 'it has bcc'],
  ['shows bcc', ({ cc, bcc }) => ({ cc: [...cc, ...bcc], bcc: [] }), 'it has bcc'],
  ['drops replyTo', () => ({ replyTo: [] }), 'it has replyTo'],
  ['sends HTML as text', ({ text, html }) => ({ text: html ?? text, html: null }), 'HTML is HTML'],
  [
    'sends HTML without a text alternative as text',
    ({ text, html }, message) => (message.text === undefined ? { text: html ?? text } : {}),
    'HTML without a text alternative',
  ],
  ['sends text as HTML', ({ text, html }) => ({ html: html ?? text }), 'a text is a text'],
  [
    'drops the text alternative',
    () => ({ text: 'See the HTML.' }),
    'the text alternative is the one that was given',
  ],
])('finds a provider that %s', async (_, change, found) => {
  const { failed } = await run(change)
  expect(failed).toEqual(expect.arrayContaining([expect.stringContaining(found)]))
})
