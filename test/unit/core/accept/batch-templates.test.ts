import { describe, expect, it } from 'vitest'
import { DEFAULT_BOUNDS } from '../../../../src/core/input/bounds.ts'
import { templateKind } from '../../../../src/core/text/kind.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'
import { notifierWorld } from '../../../support/notifier-world.ts'
import { watchReads } from '../../../support/record-reads.ts'

const to = 'ada@example.com'
const inAll =
  /^The templates of this batch have more than 52428800 characters, expand more than 5000000 tags, or write more than 67108864 characters in code: /

/** A notifier, and each look-up of templates in its storage. */
async function start() {
  const storage = inMemory()
  const looked = watchReads(storage, templateKind)
  const notifier = await notifierWorld({ storage }).start({ channels: { email: recordingProvider() } })
  return { notifier, looked }
}

const ones = (count: number) => Array.from({ length: count }, () => 1)

describe('the templates of a batch', () => {
  it('expand as much as two hundred messages may: what is beyond that is refused, one by one', async () => {
    const { notifier } = await start()
    const body = '{{#a}}{{#a}}{{/a}}{{/a}}'
    await notifier.templates.create({ name: 'long', channel: 'email', body })
    // 24,337 tags; only for the longer list does nobody know that before.
    const large = { to, template: 'long', variables: { a: ones(155), b: ones(300) } }
    const { items } = await notifier.sendBatch([
      ...Array.from({ length: 208 }, () => large),
      { channel: 'email', to, body: 'Hello' },
    ])
    expect(items.findIndex((item) => 'error' in item)).toBe(206)
    const error = { code: 'message_too_large', message: expect.stringMatching(inAll) }
    expect(items.slice(206)).toMatchObject([{ error }, { error }, { status: 'queued' }])
    expect(await notifier.send(large)).toMatchObject({ status: 'queued' })
  })

  it('are no longer expanded where each message is too large', async () => {
    const { notifier } = await start()
    await notifier.templates.create({ name: 'long', channel: 'email', body: '{{#a}}{{#a}}{{/a}}{{/a}}' })
    const tooLarge = { to, template: 'long', variables: { a: ones(300) } }
    const { items } = await notifier.sendBatch(Array.from({ length: 210 }, () => tooLarge))
    const messages = items.map((item) => ('error' in item ? item.error.message : ''))
    expect(messages.findIndex((message) => inAll.test(message))).toBe(200)
    expect(messages[199]).toContain('expands more than 25,000 tags')
  })

  it('count 64 characters as another tag', async () => {
    const { notifier } = await start()
    const text = 'x'.repeat(DEFAULT_BOUNDS.textBytes / 2)
    await notifier.templates.create({ name: 'copy', channel: 'email', body: '{{{text}}}{{{text}}}' })
    const large = { to, template: 'copy', variables: { text } }
    const { items } = await notifier.sendBatch(Array.from({ length: 1_230 }, () => large))
    // Of each message 4,096 and 5 tags.
    expect(items.findIndex((item) => 'error' in item)).toBe(Math.ceil(5_000_000 / 4_100))
  })

  it('are read a few at a time, each once, and answered in the order of the messages', async () => {
    const { notifier, looked } = await start()
    const names = Array.from({ length: 40 }, (_, index) => `template-${index}`)
    for (const name of names) await notifier.templates.create({ name, channel: 'email', body: name })
    const messages = [...names, 'unknown', ...names].map((template) => ({ to, template }))
    const { items } = await notifier.sendBatch(messages)
    expect(looked.map(({ length }) => length)).toEqual([16, 16, 9])
    expect(looked.flat().map(({ key }) => key?.split('\n')[1])).toEqual([...names, 'unknown'])
    expect(items[40]).toMatchObject({ index: 40, error: { code: 'template_not_found' } })
    const ids = items.flatMap((item) => ('id' in item ? [item.id] : []))
    const sent = await Promise.all(ids.map((id) => notifier.notifications.get(id)))
    expect(sent.map(({ template }) => template)).toEqual([...names, ...names])
  })

  it('count four times what they have of tags, however few messages name each', async () => {
    const { notifier } = await start()
    const body = '{{!}}x'.repeat(2_000)
    const names = Array.from({ length: 320 }, (_, index) => `template-${index}`)
    for (const name of names) await notifier.templates.create({ name, channel: 'email', body })
    const { accepted, items } = await notifier.sendBatch(names.map((template) => ({ to, template })))
    // Of each 4,001 pieces.
    expect(accepted).toBe(Math.floor(5_000_000 / 16_004))
    expect(items[accepted]).toMatchObject({ error: { message: expect.stringMatching(inAll) } })
  })

  it('are read and compiled up to a size in all', async () => {
    const { notifier, looked } = await start()
    const body = `{{!${'x'.repeat(DEFAULT_BOUNDS.textBytes - 10)}}}Hello`
    const names = Array.from({ length: 230 }, (_, index) => `template-${index}`)
    for (const name of names) await notifier.templates.create({ name, channel: 'email', body })
    const { accepted, items } = await notifier.sendBatch(names.map((template) => ({ to, template })))
    expect(accepted).toBe(200)
    expect(items[200]).toMatchObject({ error: { message: expect.stringMatching(inAll) } })
    expect(looked.flat()).toHaveLength(208)
  })
})
