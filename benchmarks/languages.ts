import { join } from 'node:path'
import { compare, describeMachine, report, withFolder } from './lib/measure.ts'
import { acceptingNotifier } from './lib/notifiers.ts'

/**
 * `sendBatch` of 10,000 with a template: alone, and with a layout, partials, a variant and messages in two languages.
 * The second may take 1.5 times as long.
 */

const ITEMS = 10_000
const HTML = '<h1>Hello {{name}}</h1><p>Your order {{order}} is on its way.</p>'

await withFolder(async (folder) => {
  const notifier = await acceptingNotifier(join(folder, 'notifier.db'), 'unlimited')
  const { templates, layouts, partials, messages } = notifier
  await templates.create({ name: 'plain', channel: 'email', subject: 'Order {{order}}', html: HTML })
  await partials.create({ name: 'footer', html: '<footer>{{@footer}}</footer>' })
  await layouts.create({
    name: 'brand',
    html: '<html lang="{{locale}}" dir="{{dir}}"><main>{{{content}}}</main>{{> footer}}</html>',
  })
  await messages.put('en', { footer: 'Acme', items: '{count, plural, one {# item} other {# items}}' })
  await messages.put('de', { footer: 'Acme', items: '{count, plural, one {# Posten} other {# Posten}}' })
  await templates.create({
    name: 'whole',
    channel: 'email',
    layout: 'brand',
    subject: 'Order {{order}}',
    html: `${HTML}<p>{{@items}}</p>`,
    locales: { de: { subject: 'Bestellung {{order}}', html: `${HTML}<p>{{@items}}</p>` } },
  })
  const batchOf = (template: string, locales: readonly string[]) =>
    Array.from({ length: ITEMS }, (_, index) => {
      const locale = locales[index % locales.length]
      return {
        to: `user-${index}@example.com`,
        template,
        variables: { name: `User ${index}`, order: index, count: index % 5 },
        ...(locale === undefined ? {} : { locale }),
      }
    })
  const plain = batchOf('plain', [])
  const whole = batchOf('whole', ['en', 'de-AT'])
  const rates = await compare(
    [
      { name: 'template', run: async () => (await notifier.sendBatch(plain)).accepted },
      { name: 'with layout and locale', run: async () => (await notifier.sendBatch(whole)).accepted },
    ],
    7,
  )
  await notifier.stop()
  console.log(describeMachine())
  report('Batches of 10,000 with layout and locale', 'notifications', rates, 'template')
})
