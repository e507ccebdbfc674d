import type { Locator } from 'playwright-core'
import { expect, it } from 'vitest'
import type { QuietHours } from '../../src/index.ts'
import { assertAccessible, assertFits } from '../support/dashboard/browser.ts'
import { signIn } from '../support/dashboard/sign-in.ts'
import { describeDashboard } from '../support/dashboard/suite.ts'

const NIGHT: QuietHours = { zone: 'Europe/Vienna', windows: [{ from: '22:00', to: '07:00' }] }
const options = {
  notifier: {
    categories: { security: { name: 'Security', required: true } },
    recipients: {
      resolve: (ids: readonly string[]) =>
        new Map(ids.map((id) => [id, { channels: { email: `${id.replace(':', '-')}@example.com` } }])),
    },
  },
}

/** Quiet hours that have begun an hour ago and end in an hour. */
function quietNow(): QuietHours {
  const time = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16)
  return { zone: 'UTC', windows: [{ from: time(-1), to: time(1) }] }
}

describeDashboard('quiet hours', options, (suite) => {
  const dialog = () => suite.page.getByRole('dialog', { name: 'Quiet hours' })
  const window = (number: number): Locator =>
    dialog().getByRole('group', { name: `Window ${number}`, exact: true })
  const save = () => dialog().getByRole('button', { name: /^Save/ }).click()
  const ofPerson = async (recipient: string) =>
    (await suite.host.notifier.preferences.get({ recipient })).quietHours

  async function openPerson(recipient: string, permission: 'Read Only' | 'Write' = 'Write'): Promise<void> {
    const { page, host } = suite
    await signIn(page, host, await host.key(permission), '/recipients')
    await page.getByLabel('Person ID').fill(recipient)
    await page.getByRole('button', { name: 'Find' }).click()
    await page.getByRole('heading', { level: 2, name: recipient }).waitFor()
  }

  it('of a person: several windows, weekdays, a zone and dates without them are stored, changed and removed', async () => {
    const { page } = suite
    await openPerson('user:42')
    await page.getByText('No choice. Those of the organization apply').waitFor()
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Set quiet hours: user:42' }).click()
    await dialog().getByLabel('Time zone').fill('europe/zurich')
    await dialog().getByRole('button', { name: 'Add window' }).click()
    for (const day of ['Mon', 'Tue', 'Wed', 'Thu', 'Fri']) await window(2).getByLabel(day).uncheck()
    await window(2).getByLabel('From').fill('07:00')
    await window(2).getByLabel('Until').fill('10:00')
    await dialog().getByRole('button', { name: 'Add date' }).click()
    await dialog().getByLabel('Date 1', { exact: true }).fill('2026-12-31')
    await assertAccessible(page)
    await save()
    await page.getByText('The quiet hours were saved.').waitFor()
    expect(await ofPerson('user:42')).toEqual({
      zone: 'Europe/Zurich',
      windows: [
        { from: '22:00', to: '07:00' },
        { days: ['sat', 'sun'], from: '07:00', to: '10:00' },
      ],
      except: ['2026-12-31'],
    })
    await page.getByText('Every day 22:00–07:00').waitFor()
    await page.getByText('Sat, Sun 07:00–10:00').waitFor()
    await page.getByText('Not on 31 Dec 2026').waitFor()
    await assertAccessible(page)

    await page.getByRole('button', { name: 'Edit: user:42' }).click()
    await dialog().getByRole('button', { name: 'Remove window 1' }).click()
    await dialog().getByRole('button', { name: 'Remove date 1' }).click()
    await save()
    await page.getByText('Every day 22:00–07:00').waitFor({ state: 'detached' })
    expect(await ofPerson('user:42')).toEqual({
      zone: 'Europe/Zurich',
      windows: [{ days: ['sat', 'sun'], from: '07:00', to: '10:00' }],
    })

    await page.getByRole('button', { name: 'Edit: user:42' }).click()
    await dialog().getByText('Never wait').click()
    await save()
    await page.getByText('Messages never wait', { exact: true }).waitFor()
    expect(await ofPerson('user:42')).toBe(false)
    await page.getByRole('button', { name: 'Remove: user:42' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('The quiet hours were removed.').waitFor()
    expect(await ofPerson('user:42')).toBe(null)
  })

  it('of a person explain why a message waits, and let it go when they are removed', async () => {
    const { page, host } = suite
    const { preferences, send } = host.notifier
    await preferences.change({ recipient: 'user:7' }, { quietHours: quietNow() })
    const message = { channel: 'email', recipient: 'user:7', subject: 'Hi', body: 'Hi' } as const
    const expiresAt = new Date(Date.now() + 1_800_000)
    const { id: late } = await send({ ...message, expiresAt })
    const { id } = await send(message)
    await signIn(page, host, await host.key('Write'), `/notifications/${id}`)
    await page.getByRole('heading', { name: 'It may not be sent yet.' }).waitFor()
    await page.getByText(/^Quiet hours until \d\d:\d\d \(UTC\)\.$/).waitFor()
    await page.getByRole('tab', { name: 'Why' }).click()
    const gate = page.getByRole('row', { name: /^Preferences Waiting Quiet hours until \d\d:\d\d \(UTC\)\./ })
    await gate.waitFor()
    await assertAccessible(page)
    expect(await page.getByText('It expires before that:').count()).toBe(0)
    await page.goto(`${host.url}o/org_default/notifications/${late}?tab=gates`)
    await page.getByText('It expires before that:').waitFor()
    await page
      .getByRole('row', { name: /^Expiry Failed It expires at .*, before "preferences" lets it go at / })
      .waitFor()
    await assertAccessible(page)
    await page.getByRole('link', { name: 'Preferences of this recipient' }).click()
    await page.getByRole('button', { name: 'Remove: user:7' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('The quiet hours were removed.').waitFor()
    expect((await host.notifier.waitFor(id, { timeoutMs: 30_000 })).status).toBe('sent')
    await page.getByRole('link', { name: 'Notifications to this recipient' }).click()
    await page
      .getByRole('row', { name: /user-7@example.com Sent/ })
      .first()
      .waitFor()
    expect(await page.getByLabel('Person').inputValue()).toBe('user:7')
  })

  it('and opt-outs of a person are found from the message that they skip, when the page loads again', async () => {
    const { page, host } = suite
    await host.notifier.categories.create({ id: 'digest', name: 'Digest' })
    const to = 'skipped@example.com'
    await host.notifier.preferences.change({ channel: 'email', to }, { categories: { digest: false } })
    const message = { channel: 'email', to, category: 'digest', subject: 'Hi', body: 'Hi' } as const
    const { id } = await host.notifier.send(message)
    await signIn(page, host, await host.key('Read Only'), `/notifications/${id}`)
    await page.getByRole('heading', { name: 'It was skipped.' }).waitFor()
    const script = '**/assets/settings-*.js'
    await page.route(script, (route) => route.abort())
    await page.getByRole('link', { name: 'Preferences of this recipient' }).click()
    await page.getByText('The server cannot be reached.').waitFor()
    await page.unroute(script)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('row', { name: 'digest All Off' }).waitFor()
    expect(await page.getByRole('textbox', { name: 'Address' }).inputValue()).toBe(to)
  })

  it('say what is wrong beside the field, in the words of the API, and keep what was typed', async () => {
    const { page } = suite
    await openPerson('user:wrong')
    await page.getByRole('button', { name: 'Set quiet hours: user:wrong' }).click()
    const fault = async (field: Locator, words: RegExp) => {
      await save()
      await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true')
      await dialog().getByText(words).waitFor()
      expect(await dialog().getByText(words).count()).toBe(1)
    }
    const zone = dialog().getByLabel('Time zone')
    await zone.fill('+02:00')
    await fault(zone, /must be the name of an IANA time zone, such as Europe\/Vienna, not an offset/)
    await zone.fill('Europe/Vienna')
    await dialog().getByRole('button', { name: 'Add window' }).click()
    await window(2).getByLabel('Until').fill('22:00')
    await fault(window(2).getByLabel('Until'), /"quietHours.windows.1.to": must differ from "from"/)
    expect(await window(1).locator('[aria-invalid]').count()).toBe(0)
    await window(2).getByLabel('Until').fill('')
    await fault(window(2).getByLabel('Until'), /must be a local time from 00:00 to 23:59/)
    await window(2).getByLabel('Until').fill('21:00')
    for (const day of ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'])
      await window(2).getByLabel(day).uncheck()
    await save()
    await window(2).getByText('must name a day').waitFor()
    for (const day of ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'])
      await window(2).getByLabel(day).check()
    await window(1).getByLabel('From').fill('20:00')
    await window(1).getByLabel('Until').fill('22:00')
    await save()
    await dialog().getByText('must leave a time of the week free').waitFor()
    await assertAccessible(page)
    await dialog().getByRole('button', { name: 'Remove window 1' }).click()
    await dialog().getByRole('button', { name: 'Add date' }).click()
    await fault(
      dialog().getByLabel('Date 1', { exact: true }),
      /"quietHours.except.0": must be a date that exists/,
    )
    await dialog().getByRole('button', { name: 'Remove date 1' }).click()
    await dialog().getByRole('button', { name: 'Remove window 1' }).click()
    await save()
    await dialog().getByText('must have a window; false instead of quiet hours means none').waitFor()
    expect(await ofPerson('user:wrong')).toBe(null)
  })

  it('show what somebody else has saved meanwhile, and let the author choose', async () => {
    const { page, host } = suite
    await openPerson('user:both')
    await page.getByRole('button', { name: 'Set quiet hours: user:both' }).click()
    await window(1).getByLabel('From').fill('20:00')
    await host.notifier.preferences.change({ recipient: 'user:both' }, { quietHours: NIGHT })
    await save()
    await dialog().getByText('They were changed while you were editing').waitFor()
    await dialog().getByText('Every day 22:00–07:00').waitFor()
    expect(await ofPerson('user:both')).toEqual(NIGHT)
    await assertAccessible(page)
    await dialog().getByRole('button', { name: 'Use theirs' }).click()
    expect(await window(1).getByLabel('From').inputValue()).toBe('22:00')
    await window(1).getByLabel('From').fill('21:00')
    await host.notifier.preferences.change({ recipient: 'user:both' }, { quietHours: false })
    await save()
    await dialog().getByText('Messages never wait', { exact: true }).waitFor()
    await dialog().getByRole('button', { name: 'Save mine' }).click()
    await page.getByText('The quiet hours were saved.').waitFor()
    const mine = { zone: 'Europe/Vienna', windows: [{ from: '21:00', to: '07:00' }] }
    expect(await ofPerson('user:both')).toEqual(mine)
  })

  it('of an organization and its categories are changed with Full Access alone', async () => {
    const { page, host } = suite
    const { notifier } = host
    await notifier.categories.create({ id: 'news', name: '<b>News</b>' })
    await signIn(page, host, await host.key('Full Access'), '/')
    await page.getByRole('link', { name: 'Quiet hours' }).click()
    await page.getByText('None. Those of the categories apply.').waitFor()
    await page
      .getByRole('row', { name: /Security security Required Required messages never wait. Set in code/ })
      .waitFor()
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Set quiet hours: Organization' }).click()
    await dialog().getByText('Never wait').click()
    await dialog().getByText('except to people with quiet hours').waitFor()
    await save()
    await page.getByText('Messages never wait', { exact: true }).waitFor()
    expect((await notifier.preferences.get({ organization: true })).quietHours).toBe(false)
    await page.getByRole('button', { name: 'Set quiet hours: <b>News</b>' }).click()
    // A category has hours or none.
    expect(await dialog().getByText('Never wait').count()).toBe(0)
    await window(1).getByLabel('Sat').uncheck()
    await window(1).getByLabel('Sun').uncheck()
    await save()
    await page.getByRole('row', { name: /<b>News<\/b> news Mon–Fri 22:00–07:00 Europe\/Vienna/ }).waitFor()
    expect((await notifier.categories.get('news')).quietHours).toEqual({
      zone: 'Europe/Vienna',
      windows: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '22:00', to: '07:00' }],
    })
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Edit: <b>News</b>' }).click()
    await page.route('**/v1/categories/news*', async (route) => {
      if (route.request().method() === 'PATCH')
        await notifier.categories.update('news', { description: 'Changed after the form has read it' })
      await route.continue()
    })
    await save()
    await dialog().getByText('The category "news" now has version').waitFor()
    await page.unroute('**/v1/categories/news*')
    await notifier.categories.update('news', { required: true, quietHours: null })
    await save()
    await dialog().getByText('They were changed while you were editing').waitFor()
    await save()
    await dialog().getByText('is required, so its messages never wait').waitFor()
    await dialog().getByRole('button', { name: 'Cancel' }).click()
    await notifier.categories.update('news', { required: false, quietHours: NIGHT })
    await page.getByRole('button', { name: 'Remove: <b>News</b>' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('The quiet hours were removed.').waitFor()
    expect((await notifier.categories.get('news')).quietHours).toBe(null)

    await suite.watched.context.clearCookies()
    await signIn(page, host, await host.key('Write'), '/quiet-hours')
    await page.getByText('Messages never wait', { exact: true }).waitFor()
    await page.getByRole('row', { name: /News/ }).waitFor()
    expect(await page.getByRole('main').getByRole('button').count()).toBe(0)
  })

  it('of an address are found by it, with what the person has turned off, and readers cannot change them', async () => {
    const { page, host } = suite
    const { preferences, categories } = host.notifier
    await categories.create({ id: 'offers', name: 'Offers' })
    const ada = { channel: 'email', to: 'ada@example.com' }
    await preferences.change(ada, { quietHours: NIGHT, categories: { offers: { email: false } } })
    await signIn(page, host, await host.key('Read Only'), '/recipients')
    expect(await page.getByRole('button', { name: 'Find' }).isDisabled()).toBe(true)
    await page.getByText('By address').click()
    const address = page.getByRole('textbox', { name: 'Address' })
    await page.getByLabel('Channel').selectOption('email')
    await address.fill('nobody')
    await page.getByRole('button', { name: 'Find' }).click()
    await expect.poll(() => address.getAttribute('aria-invalid')).toBe('true')
    await address.fill('ada@example.com')
    await page.getByRole('button', { name: 'Find' }).click()
    await page.getByText('Every day 22:00–07:00').waitFor()
    await page.getByRole('row', { name: 'offers email Off' }).waitFor()
    expect(await page.getByRole('button', { name: /ada@example.com/ }).count()).toBe(0)
    await assertAccessible(page)
    await page.reload()
    await page.getByText('Every day 22:00–07:00').waitFor()
    expect(await address.inputValue()).toBe('ada@example.com')
    await page.getByRole('link', { name: 'Notifications to this recipient' }).click()
    await page.getByText('Nothing matches these filters').waitFor()
    expect(await page.getByLabel('Recipient').inputValue()).toBe('ada@example.com')
  })
})

describeDashboard('quiet hours on a phone', { watch: { width: 390 } }, (suite) => {
  it('fit the screen, also their form', async () => {
    const { page, host } = suite
    await host.notifier.preferences.change({ organization: true }, { quietHours: NIGHT })
    await signIn(page, host, await host.key(), '/quiet-hours')
    await page.getByText('Every day 22:00–07:00').waitFor()
    await assertFits(page)
    await page.getByRole('button', { name: 'Edit: Organization' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Add date' }).click()
    await assertFits(page)
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.goto(`${host.url}o/org_default/recipients?recipient=user%3A42`)
    await page.getByRole('heading', { level: 2, name: 'user:42' }).waitFor()
    await assertFits(page)
    await assertAccessible(page)
  })
})
