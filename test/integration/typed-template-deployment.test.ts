import { join } from 'node:path'
import { expect, it } from 'vitest'
import { sqlite } from '../../adapters/storage/sqlite/index.ts'
import { createNotifier, defineTemplates } from '../../src/index.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

it('a later deployment delivers what the earlier one wrote, in messages and in resent ones', async () => {
  const file = join(await temporaryDirectory(), 'notifications.db')
  const open = async (word: string, deliver: boolean) => {
    const email = recordingProvider()
    const notifier = createNotifier({
      channels: { email },
      storage: sqlite({ file }),
      publicUrl: 'https://example.com/api',
      layouts: { brand: { html: `<main>${word} {{{content}}}</main>` } },
      templates: defineTemplates({
        mustache: {
          channel: 'email',
          layout: 'brand',
          subject: `${word} {{name}}`,
          html: `<p>${word} {{name}} {{unsubscribeUrl}}</p>`,
        },
        written: {
          channel: 'email',
          html: ({ variables }) => `<p>${word} ${variables.name}</p>`,
          text: () => word,
        },
      }),
    })
    await notifier.start({ deliver })
    return { notifier, email }
  }
  const first = await open('first', false)
  const variables = { name: 'Ada' }
  const ids: string[] = []
  const to = 'ada@example.com'
  ids.push((await first.notifier.send({ to, template: 'mustache', variables })).id)
  ids.push((await first.notifier.send({ to, template: 'written', variables })).id)
  await first.notifier.stop()

  const second = await open('second', true)
  const mails = async (wanted: readonly string[]) => {
    for (const id of wanted) await second.notifier.waitFor(id)
    return second.email.messages.slice(-wanted.length).map(({ subject, body, text }) => ({
      subject,
      body: body.replace(/https:[^\s<]+/, 'link'),
      text,
    }))
  }
  const delivered = await mails(ids)
  expect(JSON.stringify(delivered)).not.toContain('second')
  expect(delivered).toHaveLength(2)
  expect(delivered).toContainEqual({ subject: 'first Ada', body: '<main>first <p>first Ada link</p></main>' })
  expect(delivered).toContainEqual({ subject: null, body: '<p>first Ada</p>', text: 'first' })
  const resent = await Promise.all(ids.map((id) => second.notifier.notifications.resend(id)))
  expect(await mails(resent.map(({ id }) => id))).toEqual(expect.arrayContaining(delivered))
  const { id } = await second.notifier.send({ to, template: 'written', variables })
  expect(await mails([id])).toMatchObject([{ body: '<p>second Ada</p>' }])
  await second.notifier.stop()
})
