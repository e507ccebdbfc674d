import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { defineTemplates } from '../../../../src/index.ts'
import { TO, withTemplates } from '../../../support/code-templates.ts'

describe('a batch', () => {
  it('gives each message its own error', async () => {
    const { notifier } = await withTemplates(
      defineTemplates({
        hi: {
          channel: 'email',
          variables: z.object({ name: z.string() }),
          text: ({ variables }) => {
            if (variables.name === 'bomb') throw new Error('no')
            return `Hi ${variables.name}`
          },
        },
      }),
    )
    const named = (name: unknown) => ({ to: TO, template: 'hi', variables: { name } })
    const { items } = await notifier.sendBatch([named('Ada'), named(1), named('bomb'), named('Bea')])
    expect(items).toMatchObject([
      { id: expect.any(String) },
      { error: { code: 'invalid_template_variable', details: { field: 'variables.name' } } },
      { error: { code: 'template_error', details: { template: 'hi' } } },
      { id: expect.any(String) },
    ])
  })

  it('holds a bounded amount of what functions write', async () => {
    const large = 'x'.repeat(250 * 1024)
    const { notifier } = await withTemplates(
      defineTemplates({ large: { channel: 'email', html: () => large } }),
    )
    const { accepted, items } = await notifier.sendBatch(
      Array.from({ length: 400 }, () => ({ to: TO, template: 'large' })),
    )
    expect(accepted).toBeGreaterThan(200)
    expect(accepted).toBeLessThan(280)
    expect(items.at(-1)).toMatchObject({ error: { code: 'message_too_large' } })
  })
})

describe('an idempotency key', () => {
  it('writes no text twice, and stands for what was given', async () => {
    let written = 0
    const { notifier } = await withTemplates(
      defineTemplates({
        hi: {
          channel: 'email',
          variables: z.object({ name: z.string().trim() }),
          text: () => `${++written}`,
        },
      }),
    )
    const send = (name: string) =>
      notifier.send({ to: TO, template: 'hi', variables: { name } }, { idempotencyKey: 'a' })
    const first = await send('Ada')
    expect(await send('Ada')).toMatchObject({ id: first.id, replayed: true })
    expect(written).toBe(1)
    await expect(send('Ada ')).rejects.toMatchObject({ code: 'idempotency_key_reused' })
  })
})
