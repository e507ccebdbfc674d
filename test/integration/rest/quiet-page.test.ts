import { afterEach, describe, expect, it } from 'vitest'
import { createLinkSigner } from '../../../src/core/links/link-signer.ts'
import type { QuietHours } from '../../../src/core/notification/quiet-hours.ts'
import type { Answer } from '../../support/http-client.ts'
import { emailHash } from '../../support/person-hashes.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

const ADA = { channel: 'email', to: 'ada@example.com' } as const
const PERSON = { recipient: 'user:42' } as const
const ORGANIZATION = { organization: true } as const
const secret = 'the secret of this service, long enough'
const night: QuietHours = { zone: 'Europe/Zurich', windows: [{ from: '22:00', to: '07:00' }] }

let host: Host
let path: string
afterEach(() => host.close())

async function start(timeZone = 'Asia/Kolkata') {
  host = await startHost({
    secret,
    publicUrl: 'https://api.example.org/n',
    categories: { news: { name: 'News' } },
    recipients: {
      resolve: (ids) => new Map(ids.map((id) => [id, { channels: { email: ADA.to }, timeZone }])),
    },
  })
  const hash = await emailHash(host.storage, ADA.to)
  const target = ['org_default', 'email', hash, 'news', 'notif_1', 'user:42']
  path = `/preferences?t=${createLinkSigner([secret]).sign('preferences', JSON.stringify(target))}`
  return host.notifier.preferences
}

const get = (lang = 'en') => host.call({ path: `${path}&lang=${lang}` })

/** The fields that a browser posts: those of the page, and what a person enters. */
async function post(entered: Record<string, string> = {}): Promise<Answer> {
  const { text } = await get()
  const [form = ''] = /<form method="post">.*?<\/form>/s.exec(text) ?? []
  const fields = new URLSearchParams()
  for (const [tag] of form.matchAll(/<input [^>]*>/g)) {
    const [, type] = /type="(\w+)"/.exec(tag) ?? []
    const isSent = type === 'hidden' || type === 'time' || tag.endsWith(' checked>')
    const [, name = '', value = ''] = /name="([^"]*)" value="([^"]*)"/.exec(tag) ?? []
    if (isSent) fields.append(name, value)
  }
  fields.append('zone', /<option selected>([^<]*)</.exec(form)?.[1] ?? '')
  for (const [name, value] of Object.entries(entered)) fields.set(name, value)
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return host.call({ method: 'POST', path, body: fields.toString(), headers })
}

const chosen = async () => /name="quiet" value="(\w+)" checked/.exec((await get()).text)?.[1]
const quietOf = async (who: typeof ADA | typeof PERSON) =>
  (await host.notifier.preferences.get(who)).quietHours
const own = { quiet: 'own', weekFrom: '22:00', weekTo: '07:00' }

describe('quiet hours on the preference page', () => {
  it('that a person turns off free what waits', async () => {
    const { change } = await start()
    const clock = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16)
    await change(ORGANIZATION, { quietHours: { zone: 'UTC', windows: [{ from: clock(-2), to: clock(2) }] } })
    const { id } = await host.notifier.send({ channel: 'email', ...PERSON, category: 'news', body: 'Hello' })
    const reason = async () => (await host.notifier.notifications.get(id)).waiting?.reason
    expect(await reason()).toBe('delayed')
    expect((await post({ quiet: 'none' })).status).toBe(303)
    expect(await reason()).not.toBe('delayed')
  })

  it("are the organization's at first, in the person's time zone", async () => {
    const { change } = await start()
    expect((await get()).text).toContain('<span>Default</span>')
    await change(ORGANIZATION, { quietHours: night })
    const { text } = await get()
    expect(text).toContain('Default: <bdi>22:00–07:00</bdi> <bdi>(Europe/Zurich)</bdi>')
    expect(text).toContain('<option selected>Asia/Kolkata</option>')
    expect(await chosen()).toBe('preset')
    await change(ORGANIZATION, { quietHours: false })
    expect((await get()).text).toContain('Default: None')
  })

  it('are not stored if only other choices change', async () => {
    const { get: read, change } = await start()
    await post({ on: '' })
    expect((await read(PERSON)).categories).toMatchObject({ news: { email: false } })
    expect(await quietOf(PERSON)).toBeNull()
    const special = { ...night, except: ['2026-12-24'] }
    await change(PERSON, { quietHours: special })
    expect([await chosen(), (await get()).text]).toEqual([
      'kept',
      expect.stringContaining('Keep as they are: <bdi>22:00'),
    ])
    await post()
    expect(await quietOf(PERSON)).toEqual(special)
  })

  it('are set for the week and the weekend, changed, turned off, and left to the organization', async () => {
    await start()
    const saved = await post({ ...own, weekendFrom: '23:00', weekendTo: '10:00' })
    expect(saved.headers.location).toMatch(/&saved=all$/)
    const both = {
      zone: 'Asia/Kolkata',
      windows: [
        { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '22:00', to: '07:00' },
        { days: ['sat', 'sun'], from: '23:00', to: '10:00' },
      ],
    }
    for (const who of [ADA, PERSON]) expect(await quietOf(who)).toEqual(both)
    expect(await chosen()).toBe('own')
    await post({ weekendFrom: '22:00', weekendTo: '07:00', zone: 'Europe/Zurich' })
    expect(await quietOf(PERSON)).toEqual(night)
    await post({ weekendFrom: '', weekendTo: '' })
    expect(await quietOf(PERSON)).toEqual({ ...night, windows: both.windows.slice(0, 1) })
    await post({ quiet: 'none' })
    expect([await quietOf(PERSON), await chosen()]).toEqual([false, 'none'])
    await post({ quiet: 'preset' })
    for (const who of [ADA, PERSON]) expect(await quietOf(who)).toBeNull()
  })

  it('are those that a person enters without choosing them', async () => {
    await start()
    await post({ zone: 'Europe/Zurich' })
    expect(await quietOf(PERSON)).toBeNull()
    const times = { weekFrom: '22:00', weekTo: '07:00', weekendFrom: '22:00', weekendTo: '07:00' }
    await post({ ...times, zone: 'Europe/Zurich' })
    expect(await quietOf(PERSON)).toEqual(night)
  })

  it('stay if everything optional is turned off', async () => {
    const { change } = await start()
    await change(PERSON, { quietHours: night })
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    await host.call({ method: 'POST', path, body: 'none=1', headers })
    expect((await host.notifier.preferences.get(PERSON)).channels).toEqual({ '*': false })
    expect(await quietOf(PERSON)).toEqual(night)
  })

  it.each([
    ['without a time', { quiet: 'own' }],
    ['with one time', { quiet: 'own', weekFrom: '22:00' }],
    ['with equal times', { ...own, weekTo: '22:00' }],
    ['with a time that does not exist', { ...own, weekTo: '24:00' }],
    ['in a zone that does not exist', { ...own, zone: 'Mars/Base' }],
  ])('are not saved %s, and the page says so', async (_, entered) => {
    await start()
    const saved = await post({ ...entered, on: '' })
    expect(saved.headers.location).toMatch(/&saved=partly$/)
    expect((await host.call({ path: `/preferences${saved.headers.location}&lang=en` })).text).toContain(
      'role="alert"',
    )
    expect(await quietOf(PERSON)).toBeNull()
    expect((await host.notifier.preferences.get(PERSON)).categories).toMatchObject({ news: { email: false } })
  })

  it.each(['de', 'fr', 'es', 'ar', 'en'])('have words in %s, with the days of a window', async (lang) => {
    const { change } = await start()
    await change(ORGANIZATION, {
      quietHours: { ...night, windows: [{ ...night.windows[0]!, days: ['wed'] }] },
    })
    const { text } = await get(lang)
    const day = new Intl.DateTimeFormat(lang, { weekday: 'short', timeZone: 'UTC' }).format(
      Date.UTC(2026, 0, 14),
    )
    expect(text).toContain(`: ${day} <bdi>22:00–07:00</bdi>`)
  })
})
