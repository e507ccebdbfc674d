import { expect, it } from 'vitest'
import * as z from 'zod'
import { notifierFetch } from '../../adapters/http/fetch.ts'
import { defineTemplates } from '../../src/index.ts'
import { withTemplates } from '../support/code-templates.ts'

it('a template in code is sent over REST by its name, with the values that its schema takes', async () => {
  const { notifier, sent } = await withTemplates(
    defineTemplates({
      order: {
        channel: 'email',
        variables: z.object({
          items: z.array(z.object({ price: z.number() })),
          note: z.string().default('-'),
        }),
        text: ({ variables: { items, note } }) => `${items.length} ${note}`,
      },
    }),
  )
  const { secret } = await notifier.apiKeys.create({ name: 'shop', permission: 'Full Access' })
  const handle = notifierFetch(notifier, { https: 'off' })
  async function call(path: string, body: object) {
    const request = new Request(`http://localhost/v1/${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    const response = await handle(request, { remoteAddress: '127.0.0.1', encrypted: false })
    return {
      status: response?.status,
      body: (await response?.json()) as { id: string } & Record<string, unknown>,
    }
  }
  const send = (variables: object) => call('notify', { to: 'ada@example.com', template: 'order', variables })
  const right = await send({ items: [{ price: 2 }] })
  expect(right.status).toBe(201)
  expect(await sent(right.body.id)).toMatchObject({ body: '1 -' })
  expect(await send({ items: [{ price: '2' }] })).toMatchObject({
    status: 422,
    body: { error: { code: 'invalid_template_variable', details: { field: 'variables.items[0].price' } } },
  })
  expect(await call('templates', { name: 'order', channel: 'email', text: 'Mine' })).toMatchObject({
    status: 409,
    body: { error: { code: 'template_already_exists' } },
  })
})
