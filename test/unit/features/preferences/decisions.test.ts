import { describe, expect, it, vi } from 'vitest'
import { uploadKind } from '../../../../src/core/accept/upload.ts'
import { UNLIMITED } from '../../../../src/core/tenancy/plans.ts'
import { preferenceKind } from '../../../../src/features/preferences/records.ts'
import type { NotifierOptions } from '../../../../src/options.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { mail, notifierWorld } from '../../../support/notifier-world.ts'
import { watchReads } from '../../../support/record-reads.ts'

const MINUTE = 60_000
const news = { ...mail, category: 'news' } as const
const ada = { channel: 'email', to: 'Ada@Example.com' } as const
const off = { categories: { news: false } } as const
const categories = {
  news: { name: 'News', formerIds: ['letters'] },
  ads: { name: 'Ads', default: false },
  security: { name: 'Security', required: true },
}

async function start(more: Partial<NotifierOptions> = {}) {
  const world = notifierWorld()
  const email = recordingProvider()
  const options = { channels: { email, push: recordingProvider() }, categories, ...more }
  const notifier = await world.start(options)
  return { world, notifier, email, another: () => world.start(options) }
}

describe('a message that its recipient does not want', () => {
  it('is accepted as any other, counts against no quota, and ends as skipped with what decided', async () => {
    const free = { ...UNLIMITED, notificationsPerMonth: 1 }
    const { notifier, world, email } = await start({ plans: { free } })
    await notifier.organizations.create({ id: 'org_a', name: 'A', plan: 'free' })
    const tenant = notifier.organization('org_a')
    await tenant.preferences.change(ada, off)
    const heard = vi.fn()
    notifier.on('notification.skipped', heard)
    const sent = await tenant.send(news)
    expect(sent).toMatchObject({ status: 'queued', to: mail.to })
    expect(await world.ended(notifier, sent.id, 'org_a')).toBe('skipped')
    const { error, status } = await tenant.notifications.get(sent.id)
    const why = {
      code: 'opted_out',
      decidedBy: 'recipient_category',
      message: expect.stringContaining('"news"'),
    }
    expect([error, status]).toEqual([why, 'skipped'])
    expect((await world.storage.notifications.get(sent.id))?.category).toBe('news')
    expect(heard.mock.calls[0]?.[0]).toMatchObject({ data: { id: sent.id, decidedBy: 'recipient_category' } })
    const { items } = await tenant.logs.list({ status: 'skipped' })
    expect(items).toMatchObject([{ notificationId: sent.id, error: { code: 'opted_out' } }])
    const { counters } = await notifier.metrics()
    expect(counters.skipped).toEqual([
      { labels: { channel: 'email', decided_by: 'recipient_category' }, value: 1 },
    ])
    expect(email.calls).toEqual([])
    await tenant.send({ ...news, category: 'security' })
    await expect(tenant.send({ ...news, category: 'security' })).rejects.toMatchObject({
      code: 'notification_quota_exceeded',
    })
    expect(await tenant.send(news)).toMatchObject({ status: 'queued' })
  })

  it('keeps its content only if that is small: it counts against no monthly quota', async () => {
    const { notifier, world } = await start()
    await notifier.preferences.change(ada, off)
    const { id: upload } = await notifier.attachments.upload(Buffer.from('Hi'), {
      filename: 'a.txt',
      contentType: 'text/plain',
    })
    const large = { ...news, body: 'x'.repeat(16_384), email: { attachments: [{ id: upload }] } }
    expect((await notifier.validate(large)).rendered).toMatchObject({ body: large.body })
    const { channel, to, category } = news
    const html = { channel, to, category, subject: 'Hi', html: `<p>${'é'.repeat(8_192)}</p>` }
    const { items } = await notifier.sendBatch([html, { ...news, body: 'x'.repeat(15_000) }])
    const sent = [await notifier.send(large), ...items].map((one) => ('id' in one ? one.id : ''))
    const contents = await Promise.all(
      sent.map(async (id) => (await world.storage.notifications.get(id))?.content),
    )
    const removed = {
      removed: true,
      body: '',
      turnedOff: expect.objectContaining({ decidedBy: 'recipient_category' }),
    }
    expect(contents).toEqual([removed, removed, expect.objectContaining({ body: 'x'.repeat(15_000) })])
    const uploads = await world.storage.records.write([
      [{ kind: uploadKind, do: 'remove', id: upload, unlessNamed: true }],
    ])
    expect(uploads).toMatchObject([{ kind: 'written' }])
    const [first = '', , small = ''] = sent
    expect(await world.ended(notifier, first)).toBe('skipped')
    const { get, resend } = notifier.notifications
    expect(await get(first)).toMatchObject({ sensitive: false, error: { code: 'opted_out' } })
    await expect(get(first, { rendered: true })).rejects.toMatchObject({ code: 'content_removed' })
    await expect(resend(first)).rejects.toMatchObject({ code: 'content_removed' })
    expect((await get(small, { rendered: true })).rendered).toMatchObject({ body: 'x'.repeat(15_000) })
  })

  it('stays turned off once it was accepted so: it was not counted', async () => {
    const { notifier, world, email } = await start()
    await notifier.preferences.change(ada, off)
    const sendAt = new Date(world.clock.now() + MINUTE)
    const { id } = await notifier.send({ ...news, sendAt })
    await notifier.preferences.change(ada, { categories: { news: true } })
    await world.clock.advance(2 * MINUTE)
    expect(await world.ended(notifier, id)).toBe('skipped')
    const again = await notifier.notifications.resend(id)
    expect(await world.ended(notifier, again.id)).toBe('sent')
    expect(email.calls).toHaveLength(1)
    expect((await world.storage.notifications.get(again.id))?.category).toBe('news')
  })

  it('is looked at again before an attempt, also for what another process stored', async () => {
    const { notifier, world, email, another } = await start()
    const sendAt = new Date(world.clock.now() + MINUTE)
    const waiting = await Promise.all([
      notifier.send({ ...news, sendAt }),
      notifier.send({ ...news, category: 'security', sendAt }),
      notifier.send({ ...mail, sendAt }),
    ])
    const other = await another()
    await other.preferences.change(ada, { channels: { email: false } })
    await world.clock.advance(2 * MINUTE)
    const ends = await Promise.all(waiting.map(({ id }) => world.ended(notifier, id)))
    expect(ends).toEqual(['skipped', 'sent', 'skipped'])
    expect(email.calls).toHaveLength(1)
    expect((await notifier.notifications.get(waiting[0]?.id ?? '')).error).toMatchObject({
      decidedBy: 'recipient_channel',
    })
  })

  it('is not called skipped if an earlier attempt may have sent it', async () => {
    const { notifier, world, email } = await start()
    email.behave(async () => {
      await notifier.preferences.change(ada, off)
      return { kind: 'ambiguous', reason: 'no answer' }
    })
    const { id } = await notifier.send(news)
    await world.clock.advance(5 * MINUTE)
    expect(await world.ended(notifier, id)).toBe('failed')
    expect((await notifier.notifications.get(id)).error).toMatchObject({ code: 'delivery_unknown' })
    expect(email.calls).toHaveLength(1)
  })

  it('is skipped after attempts that certainly failed', async () => {
    const { notifier, world, email } = await start()
    email.behave(async () => {
      await notifier.preferences.change(ada, off)
      return { kind: 'retry', code: 'mailbox_full', scope: 'recipient' }
    })
    const { id } = await notifier.send(news)
    await world.clock.advance(5 * MINUTE)
    expect(await world.ended(notifier, id)).toBe('skipped')
    expect(email.calls).toHaveLength(1)
  })
})

describe('a category', () => {
  it('that is required overrides unsubscriptions and preferences, but no bounce and no STOP', async () => {
    const { notifier, world } = await start()
    const security = { ...mail, category: 'security' } as const
    await notifier.preferences.change(ada, { channels: { email: false } })
    await notifier.suppressions.add({ ...ada, reason: 'unsubscribe' })
    expect(await world.ended(notifier, (await notifier.send(security)).id)).toBe('sent')
    await expect(notifier.send(news)).rejects.toMatchObject({ code: 'unsubscribed' })
    await notifier.suppressions.remove(ada)
    for (const [reason, code] of [
      ['stop', 'unsubscribed'],
      ['hard_bounce', 'blocked_recipient'],
    ] as const) {
      await notifier.suppressions.add({ ...ada, reason })
      await expect(notifier.send(security)).rejects.toMatchObject({ code, details: { reason } })
      await notifier.suppressions.remove(ada)
    }
  })

  it('is known by a former id, by default that of the template, and refused if unknown', async () => {
    const { notifier, world } = await start()
    const { id } = await notifier.send({ ...mail, category: 'letters' })
    expect((await world.storage.notifications.get(id))?.category).toBe('news')
    const template = { name: 'offer', channel: 'email', body: 'Buy!' } as const
    expect(await notifier.templates.create({ ...template, category: 'letters' })).toMatchObject({
      category: 'news',
    })
    const { to } = mail
    const ofTemplate = await notifier.send({ to, template: 'offer' })
    expect((await world.storage.notifications.get(ofTemplate.id))?.category).toBe('news')
    const other = await notifier.send({ to, template: 'offer', category: 'ads' })
    expect(await world.ended(notifier, other.id)).toBe('skipped')
    for (const refused of [
      notifier.send({ ...mail, category: 'nwes' }),
      notifier.validate({ ...mail, category: 'nwes' }),
      notifier.templates.update('offer', { category: 'nwes' }),
    ])
      await expect(refused).rejects.toMatchObject({
        code: 'unknown_category',
        status: 422,
        message: expect.stringContaining('"news"'),
      })
    await expect(notifier.send({ ...mail, category: 'No!' })).rejects.toMatchObject({
      code: 'invalid_parameter',
      details: { field: 'category' },
    })
  })

  it('that is stored is found at once, and its messages outlive it', async () => {
    const { notifier, world, another } = await start()
    const other = await another()
    await expect(other.send({ ...mail, category: 'club' })).rejects.toMatchObject({
      code: 'unknown_category',
    })
    await notifier.categories.create({ id: 'club', name: 'Club' })
    const sendAt = new Date(world.clock.now() + MINUTE)
    const { id } = await other.send({ ...mail, category: 'club', sendAt })
    await notifier.categories.delete('club')
    await world.clock.advance(2 * MINUTE)
    expect(await world.ended(notifier, id)).toBe('sent')
  })

  it('of the organization can be turned off for everyone without a choice', async () => {
    const { notifier, world } = await start()
    await notifier.preferences.change({ organization: true }, { categories: { news: false } })
    await notifier.preferences.change(
      { channel: 'email', to: 'bob@example.com' },
      { categories: { news: true } },
    )
    const one = await notifier.send(news)
    const other = await notifier.send({ ...news, to: 'bob@example.com' })
    expect(await world.ended(notifier, one.id)).toBe('skipped')
    expect(await world.ended(notifier, other.id)).toBe('sent')
    expect((await notifier.notifications.get(one.id)).error).toMatchObject({ decidedBy: 'organization' })
  })
})

describe('a batch', () => {
  it('is checked item by item, with one look-up for all', async () => {
    const { notifier, world } = await start()
    await notifier.preferences.change({ channel: 'email', to: 'p7@example.com' }, off)
    await notifier.categories.create({ id: 'club', name: 'Club', default: false })
    const reads = watchReads(world.storage, preferenceKind)
    const items = Array.from({ length: 500 }, (_, index) => ({ ...news, to: `p${index}@example.com` }))
    const wrong = [
      { ...news, category: 'nope' },
      { ...news, category: 'club' },
      { ...mail, to: 'nobody' },
    ]
    const { accepted, items: answers } = await notifier.sendBatch([...items, ...wrong])
    expect(reads).toHaveLength(1)
    expect(accepted).toBe(501)
    expect(answers.slice(500)).toMatchObject([
      { error: { code: 'unknown_category' } },
      { status: 'queued' },
      { error: { code: 'invalid_email' } },
    ])
    const ids = answers.flatMap((answer) => ('id' in answer ? [answer.id] : []))
    await world.ended(notifier, ids.at(-1) ?? '')
    const ends = await Promise.all(ids.map((id) => world.ended(notifier, id)))
    expect(ends.flatMap((end, at) => (end === 'skipped' ? [at] : []))).toEqual([7, 500])
  })
})

describe('without preferences', () => {
  it('none are looked up, neither at the accept nor before an attempt', async () => {
    const { notifier, world } = await start()
    const reads = watchReads(world.storage, preferenceKind)
    const { id } = await notifier.send(news)
    expect(await world.ended(notifier, id)).toBe('sent')
    expect(reads).toEqual([])
    const ads = await notifier.send({ ...mail, category: 'ads' })
    expect(await world.ended(notifier, ads.id)).toBe('skipped')
    expect(reads).toEqual([])
    await notifier.preferences.change(ada, {})
    await notifier.send(news)
    expect(reads.length).toBeGreaterThan(0)
  })

  it('the first ones of another process count within a second', async () => {
    const { notifier, world, another } = await start()
    await notifier.send(news)
    const other = await another()
    await other.preferences.change(ada, off)
    await world.clock.advance(1_001)
    const { id } = await notifier.send(news)
    expect(await world.ended(notifier, id)).toBe('skipped')
  })

  it('nothing is sent while it is unknown whether there are any', async () => {
    const { notifier, world, email } = await start()
    await notifier.preferences.change(ada, {})
    let away = true
    watchReads(world.storage, preferenceKind, async (inner) => {
      if (away) throw new Error('away')
      return inner()
    })
    await expect(notifier.send(news)).rejects.toMatchObject({ code: 'service_unavailable' })
    away = false
    const { id } = await notifier.send({ ...news, sendAt: new Date(world.clock.now() + MINUTE) })
    away = true
    await world.clock.advance(2 * MINUTE)
    expect(email.calls).toEqual([])
    away = false
    await world.clock.advance(5 * MINUTE)
    expect(await world.ended(notifier, id)).toBe('sent')
  })
})
