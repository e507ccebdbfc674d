import { describe, expect, it } from 'vitest'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { notifierWorld } from '../support/notifier-world.ts'

/* What `push` accepts in a send, and how it answers wrong values. */

const to = 'ab'.repeat(32)
const world = async () => notifierWorld().start({ channels: { push: recordingProvider() } })

const FULL = {
  data: { order: '42' },
  badge: 3,
  sound: 'ping.caf',
  image: 'https://cdn.example.com/a.png',
  link: 'myapp://orders/42',
  category: 'ORDER',
  thread: 'orders',
  collapseKey: 'order-42',
  ttlSeconds: 3600,
}

describe('the parts of a push message', () => {
  it('are kept as sent', async () => {
    const notifier = await world()
    const { id } = await notifier.send({ channel: 'push', to, subject: 'Hi', body: 'You', push: FULL })
    expect(await notifier.notifications.get(id, { rendered: true })).toMatchObject({
      rendered: { push: FULL },
    })
  })

  it.each([
    { silent: true },
    { silent: true, data: { sync: '1' }, collapseKey: 'sync' },
    { data: { a: '1' } },
  ])('stand in for a text: %j', async (push) => {
    const notifier = await world()
    expect(await notifier.send({ channel: 'push', to, push })).toMatchObject({ status: 'queued' })
  })

  it.each([
    ['https://example.com/orders/42?a=b#c'],
    ['myapp://orders/42'],
    ['com.example.app:/orders'],
    ['tel:+14155550123'],
  ])('may link to %s', async (link) => {
    const notifier = await world()
    expect(await notifier.send({ channel: 'push', to, body: 'x', push: { link } })).toBeDefined()
  })

  it.each<[string, object, string]>([
    ['a badge below 0', { badge: -1 }, 'push.badge'],
    ['a badge that is no number', { badge: '3' }, 'push.badge'],
    ['a sound outside of the app', { sound: '../ping.caf' }, 'push.sound'],
    ['an image without TLS', { image: 'http://cdn.example.com/a.png' }, 'push.image'],
    ['an image with credentials', { image: 'https://a:b@cdn.example.com/a.png' }, 'push.image'],
    ['an image inline', { image: 'data:image/png;base64,AA==' }, 'push.image'],
    ['a link that runs code', { link: 'javascript:alert(1)' }, 'push.link'],
    ['a link that hides its scheme', { link: 'java\nscript:alert(1)' }, 'push.link'],
    ['a link to an intent', { link: 'intent://x#Intent;end' }, 'push.link'],
    ['a link without TLS', { link: 'http://example.com' }, 'push.link'],
    ['a link without a scheme', { link: 'example.com' }, 'push.link'],
    ['a category with spaces', { category: 'a b' }, 'push.category'],
    ['a long collapse key', { collapseKey: 'x'.repeat(65) }, 'push.collapseKey'],
    ['a collapse key that headers cannot carry', { collapseKey: 'é' }, 'push.collapseKey'],
    ['five weeks', { ttlSeconds: 3_024_000 }, 'push.ttlSeconds'],
    ['a fraction of a second', { ttlSeconds: 0.5 }, 'push.ttlSeconds'],
    ['a silent sound', { silent: true, sound: 'default' }, 'push.sound'],
    ['two links in one place', { link: 'https://a.example', data: { link: 'x' } }, 'push.link'],
    ['an unknown part', { icon: 'x' }, 'push'],
  ])('are refused with %s', async (_name, push, field) => {
    const notifier = await world()
    await expect(notifier.send({ channel: 'push', to, body: 'x', push } as never)).rejects.toMatchObject({
      code: 'invalid_parameter',
      details: { field },
      message: expect.stringMatching(/./),
    })
  })
})
