import { join } from 'node:path'
import { createNotifier, defineTemplates } from 'carillon'
import { sqlite } from 'carillon/sqlite'
import * as z from 'zod'
import { compare, describeMachine, report, withFolder } from './lib/measure.ts'

/**
 * `sendBatch` of 10,000 with a stored template, and with templates in code: mustache and a function, each with a schema.
 * Those in code are written at the accept, and stored whole.
 */

const ITEMS = 10_000
const HTML = '<h1>Hello {{name}}</h1><p>Your order {{order}} is on its way.</p>'
const variables = z.object({ name: z.string(), order: z.number() })

await withFolder(async (folder) => {
  const notifier = createNotifier({
    storage: sqlite({ file: join(folder, 'notifier.db') }),
    channels: { email: { name: 'none', send: async () => ({ kind: 'accepted' }) } },
    templates: defineTemplates({
      mustache: { channel: 'email', variables, subject: 'Order {{order}}', html: HTML },
      function: {
        channel: 'email',
        variables,
        subject: 'Order {{order}}',
        html: ({ variables: { name, order } }) =>
          `<h1>Hello ${name}</h1><p>Your order ${order} is on its way.</p>`,
      },
    }),
  })
  await notifier.start({ deliver: false })
  const { id } = await notifier.templates.create({
    name: 'plain',
    channel: 'email',
    subject: 'Order {{order}}',
    html: HTML,
  })
  const batchOf = <Template extends string>(template: Template) =>
    Array.from({ length: ITEMS }, (_, index) => ({
      to: `user-${index}@example.com`,
      template,
      variables: { name: `User ${index}`, order: index },
    }))
  const [stored, mustache, written] = [
    batchOf(id as `tpl_${string}`),
    batchOf('mustache'),
    batchOf('function'),
  ]
  const rates = await compare(
    [
      { name: 'stored template', run: async () => (await notifier.sendBatch(stored)).accepted },
      { name: 'mustache in code', run: async () => (await notifier.sendBatch(mustache)).accepted },
      { name: 'function in code', run: async () => (await notifier.sendBatch(written)).accepted },
    ],
    7,
  )
  await notifier.stop()
  console.log(describeMachine())
  report('Batches of 10,000 with templates in code', 'notifications', rates, 'stored template')
})
