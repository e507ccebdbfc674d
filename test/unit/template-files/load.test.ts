import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { readTemplates } from '../../../src/template-files/index.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { notifierWorld } from '../../support/notifier-world.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

function folder(files: Readonly<Record<string, string>>): string {
  const path = temporaryDirectory(onTestFinished)
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), text)
  }
  return path
}

it('texts that are loaded at start are options of a notifier', async () => {
  const path = folder({
    'welcome.email.html':
      '---\nsubject: "{{@title}}, {{name}}"\nlayout: brand\ndescription: After the order\nlocale: en\n---\n<p>Hello {{name}}</p>',
    'welcome.email.de.html': '<p>Hallo {{name}}</p>',
    'news.email.mustache': '<p>News for {{name}}</p>',
    'news.email.fr.mustache': 'Nouvelles pour {{name}}',
    'code.sms.mustache': 'Your code: {{code}}',
    'layouts/brand.html': '---\ndescription: All mails\n---\n<main>{{{content}}}</main>{{> footer}}',
    'partials/footer.html': '<footer>Acme</footer>',
    'messages/en.json': '{"title":"Welcome"}',
    'messages/de.json': '{"title":"Willkommen"}',
  })
  const world = notifierWorld()
  const email = recordingProvider()
  const notifier = await world.start({
    channels: { email, sms: recordingProvider() },
    ...(await readTemplates(path)),
  })
  const variables = { name: 'A&B' }
  const { id } = await notifier.send({ to: 'a@example.com', template: 'welcome', locale: 'de', variables })
  await world.ended(notifier, id)
  expect(email.messages).toMatchObject([
    { subject: 'Willkommen, A&B', body: '<main><p>Hallo A&amp;B</p></main><footer>Acme</footer>' },
  ])
  expect(await notifier.templates.preview('news', variables)).toMatchObject({
    body: '<p>News for A&amp;B</p>',
  })
  expect(await notifier.templates.preview('news', variables, { locale: 'fr' })).toMatchObject({
    body: 'Nouvelles pour A&amp;B',
  })
  expect(await notifier.templates.preview('code', { code: '1' })).toMatchObject({ body: 'Your code: 1' })
})
