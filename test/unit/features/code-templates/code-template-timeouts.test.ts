import { createElement } from 'react'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { defineTemplates } from '../../../../src/index.ts'
import { TO, withTemplates } from '../../../support/code-templates.ts'

const never = () => new Promise<never>(() => {})
const Forever = async () => never()

const templates = defineTemplates({
  html: { channel: 'email', html: never },
  element: { channel: 'email', text: () => createElement(Forever as never) },
  schema: {
    channel: 'email',
    variables: z.object({ name: z.string() }).refine((value) => (value.name === 'slow' ? never() : true)),
    text: 'Hi {{name}}',
  },
})

/** What a call is rejected with, once it is. */
function outcomeOf(call: Promise<unknown>): { error?: unknown; value?: unknown } {
  const outcome: { error?: unknown; value?: unknown } = {}
  call.then(
    (value) => (outcome.value = value),
    (error) => (outcome.error = error),
  )
  return outcome
}

describe('code of the application that never answers', () => {
  it('ends a send, a validation and a preview', async () => {
    const { world, notifier } = await withTemplates(templates)
    const slow = { to: TO, template: 'schema', variables: { name: 'slow' } } as const
    const calls: [string, () => Promise<unknown>][] = [
      ['html', () => notifier.send({ to: TO, template: 'html' })],
      ['html', () => notifier.validate({ to: TO, template: 'html' })],
      ['html', () => notifier.templates.preview('html', {})],
      ['text', () => notifier.send({ to: TO, template: 'element' })],
      ['variables', () => notifier.send(slow)],
    ]
    for (const [field, call] of calls) {
      const ended = outcomeOf(call())
      await world.clock.until(() => ended.error)
      expect(ended.error).toMatchObject({
        code: 'template_error',
        details: { template: expect.any(String), field },
        message: expect.stringContaining('did not answer within 10000 ms'),
      })
    }
  })

  it('is a finding of a lint', async () => {
    const { world, notifier } = await withTemplates(templates)
    const linted = outcomeOf(notifier.templates.lint('html', { variables: {} }))
    await world.clock.until(() => linted.value)
    expect(linted.value).toMatchObject({
      findings: [{ rule: 'invalid_template', field: 'html', message: expect.stringContaining('10000 ms') }],
    })
  })

  it('fails only its own message of a batch, and takes a bounded time', async () => {
    const { world, notifier } = await withTemplates(templates)
    const named = (name: string) => ({ to: TO, template: 'schema', variables: { name } }) as const
    const plain = { to: TO, channel: 'email', html: '<p>Hi</p>' } as const
    const began = world.clock.monotonic()
    const one = outcomeOf(notifier.sendBatch([named('slow'), named('Ada'), plain]))
    await world.clock.until(() => one.value)
    expect(one.value).toMatchObject({
      items: [{ error: { code: 'template_error' } }, { id: expect.any(String) }, { id: expect.any(String) }],
    })
    const many = outcomeOf(notifier.sendBatch([...Array.from({ length: 50 }, () => named('slow')), plain]))
    await world.clock.until(() => many.value)
    expect(many.value).toMatchObject({ accepted: 1 })
    expect((many.value as { items: unknown[] }).items[49]).toMatchObject({
      error: { code: 'template_error', details: { template: 'schema' } },
    })
    expect(world.clock.monotonic() - began).toBe(40_000)
  })

  it('holds no stop', async () => {
    const { world, notifier } = await withTemplates(templates)
    const sent = outcomeOf(notifier.send({ to: TO, template: 'html' }))
    const stopped = outcomeOf(notifier.stop().then(() => true))
    await world.clock.until(() => stopped.value)
    await world.clock.until(() => sent.error)
    expect(sent.error).toMatchObject({ code: 'template_error' })
  })
})
