import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { assertAccessible, assertFits } from '../support/dashboard/browser.ts'
import { signIn } from '../support/dashboard/sign-in.ts'
import { describeDashboard } from '../support/dashboard/suite.ts'

const LATER = new Date(Date.now() + 86_400_000)
const CANCEL = '**/v1/notifications/*/cancel'

const tried: string[] = []
const channels = {
  email: {
    name: 'recorder',
    async send({ to }: { readonly to: string }) {
      tried.push(to)
      if (to.startsWith('bounce')) return rejected('provider_error')
      return to.startsWith('gone') ? rejected('invalid_recipient') : ({ kind: 'accepted' } as const)
    },
  },
}

function rejected(code: 'provider_error' | 'invalid_recipient') {
  return { kind: 'rejected', code, scope: 'recipient' } as const
}

describeDashboard('rows that are selected', { notifier: { channels } }, (suite) => {
  /** An organization with messages, newest first as `addresses` names them; those that begin with "later" are scheduled. */
  async function open(
    addresses: readonly string[],
    permission: 'Full Access' | 'Write' | 'Read Only' = 'Full Access',
  ) {
    const { page, host } = suite
    const { id: organization } = await host.notifier.organizations.create({
      name: 'Selection',
      plan: 'enterprise',
    })
    const tenant = host.notifier.organization(organization)
    const mails = addresses.toReversed().map((name) => ({
      channel: 'email' as const,
      to: `${name}@example.com`,
      subject: 'Hi',
      body: 'Hi',
      ...(name.startsWith('later') ? { sendAt: LATER } : {}),
    }))
    if (mails.length > 0) await tenant.sendBatch(mails)
    const count = async (status: 'queued' | 'scheduled' | 'cancelled' | 'sent' | 'failed') => {
      let found = 0
      let cursor: string | undefined
      do {
        const answer = await tenant.notifications.list({ status, limit: 100, cursor })
        found += answer.items.length
        cursor = answer.nextCursor ?? undefined
      } while (cursor !== undefined)
      return found
    }
    await expect.poll(() => count('queued')).toBe(0)
    const secret = await host.key(permission, { organization })
    await signIn(page, host, secret, '/notifications', organization)
    if (mails.length > 0) await page.getByRole('row').nth(1).waitFor()
    return { tenant, count, organization }
  }

  const box = (page: Page, name: string) =>
    page.getByRole('checkbox', { name: `Select ${name}@example.com`, exact: true })
  const head = (page: Page) => page.getByRole('checkbox', { name: 'Select all that are shown' })
  const names = (start: string, many: number) =>
    Array.from({ length: many }, (_, index) => `${start}${index}`)
  const partly = (page: Page) => page.locator('thead :indeterminate').count()

  it('are chosen one by one, in a range and all together, by mouse and keyboard', async () => {
    const { page } = suite
    await open(names('later', 60))
    await box(page, 'later2').click()
    await box(page, 'later5').click({ modifiers: ['Shift'] })
    await page.getByText('4 selected').waitFor()
    expect(await partly(page)).toBe(1)
    await box(page, 'later3').press('Space')
    await page.getByText('3 selected').waitFor()
    await assertAccessible(page)
    await head(page).click()
    await page.getByText('50 selected').waitFor()
    expect(await partly(page)).toBe(0)
    // Of more rows none is selected that was not seen.
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => page.getByRole('row').count()).toBe(61)
    await page.getByText('50 selected').waitFor()
    expect(await partly(page)).toBe(1)
    await page.getByRole('button', { name: 'Clear selection' }).click()
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0)
    await page.locator('thead :focus').waitFor()
  })

  it('stay selected when the list refreshes, and not when it shows something else', async () => {
    const { page } = suite
    const { tenant } = await open(names('later', 3))
    await box(page, 'later1').check()
    const [first] = (await tenant.notifications.list()).items
    await tenant.notifications.cancel(first?.id ?? '')
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))')
    await page.getByRole('row', { name: /later0@example.com Cancelled/ }).waitFor()
    await page.getByText('1 selected').waitFor()
    await page.getByLabel('Status').selectOption('scheduled')
    await page.getByRole('row', { name: /later0/ }).waitFor({ state: 'detached' })
    expect(await box(page, 'later1').isChecked()).toBe(false)
    expect(await page.getByRole('button', { name: 'Cancel them' }).count()).toBe(0)
  })

  it('are not offered to readers, nor over all organizations; retry needs Full Access', async () => {
    const { page, host } = suite
    await open(['ada'], 'Read Only')
    expect(await page.getByRole('checkbox').count()).toBe(0)
    await page.context().clearCookies()
    await open(['bounce'], 'Write')
    await box(page, 'bounce').check()
    await page.getByRole('button', { name: 'Cancel them' }).waitFor()
    expect(await page.getByRole('button', { name: 'Retry them' }).count()).toBe(0)
    await page.context().clearCookies()
    await signIn(page, host, await host.operatorKey(), '/notifications', '*')
    await page.getByRole('row', { name: /bounce@example.com/ }).waitFor()
    expect(await page.getByRole('checkbox').count()).toBe(0)
  })

  it('are cancelled after a dry run, which says what stays', async () => {
    const { page } = suite
    const { count } = await open([...names('later', 12), ...names('ada', 3), 'bounce'])
    await box(page, 'later0').check()
    await box(page, 'ada2').click({ modifiers: ['Shift'] })
    await page.getByRole('button', { name: 'Cancel them' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('12 of the 15 can be cancelled.').waitFor()
    await dialog.getByText('3 already sent').waitFor()
    expect(await count('cancelled')).toBe(0)
    await assertAccessible(page)
    await dialog.getByRole('button', { name: 'Cancel 12' }).click()
    await dialog.getByText('12 cancelled.').waitFor()
    expect(await count('cancelled')).toBe(12)
    await assertAccessible(page)
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    // As the answers said: nothing was read again.
    expect(await page.getByRole('row', { name: /later\d+@example.com Cancelled/ }).count()).toBe(12)
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0)
  })

  it('are counted at the end by what was refused, such as what was sent meanwhile', async () => {
    const { page } = suite
    const { tenant, count } = await open(names('later', 5))
    await head(page).check()
    await page.getByRole('button', { name: 'Cancel them' }).click()
    const start = page.getByRole('button', { name: 'Cancel 5' })
    await start.waitFor()
    const { items } = await tenant.notifications.list({ limit: 2 })
    for (const { id } of items) await tenant.notifications.reschedule(id, { sendAt: null })
    await expect.poll(() => count('sent')).toBe(2)
    await start.click()
    await page.getByText('3 cancelled.').waitFor()
    await page.getByText('2 sent in the meantime').waitFor()
    expect(await count('cancelled')).toBe(3)
  })

  it('stay as they are from a stop on', async () => {
    const { page } = suite
    const { count } = await open(names('later', 30))
    await head(page).check()
    await page.getByRole('button', { name: 'Cancel them' }).click()
    let release = (): void => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let asked = 0
    await page.route(CANCEL, async (route) => {
      asked += 1
      const isHeld = asked > 8
      const response = await route.fetch()
      if (isHeld) await held
      await route.fulfill({ response })
    })
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Cancel 30' }).click()
    await expect.poll(() => asked).toBe(12)
    await dialog.getByText('8 of 30').waitFor()
    expect(await dialog.getByRole('button', { name: 'Close' }).count()).toBe(0)
    await dialog.getByRole('button', { name: 'Stop' }).click()
    release()
    await dialog.getByText('Stopped. 12 cancelled; the others stay as they are.').waitFor()
    expect([await count('cancelled'), await count('scheduled')]).toEqual([12, 18])
    await page.unroute(CANCEL)
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await page.getByText('30 selected').waitFor()
    await page.getByRole('button', { name: 'Cancel them' }).click()
    await dialog.getByText('18 of the 30 can be cancelled.').waitFor()
    await dialog.getByText('12 already cancelled').waitFor()
  })

  it('are retried where that can help', async () => {
    const { page } = suite
    const { tenant, count } = await open(['later', ...names('bounce', 2), 'gone', 'ada'])
    expect(await count('failed')).toBe(3)
    await head(page).check()
    await page.getByRole('button', { name: 'Retry them' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('2 of the 5 can be retried.').waitFor()
    for (const text of ['1 already sent', '1 still waiting', '1 would fail again'])
      await dialog.getByText(text).waitFor()
    const before = tried.length
    await dialog.getByRole('button', { name: 'Retry 2' }).click()
    await dialog.getByText('2 are being delivered again.').waitFor()
    await expect.poll(() => tried.length).toBe(before + 2)
    expect(
      (await tenant.notifications.list({ status: 'failed', code: 'invalid_recipient' })).items,
    ).toHaveLength(1)
  })

  it('can be all that match, also those that are not shown', async () => {
    const { page } = suite
    const { count } = await open([...names('later', 70), ...names('ada', 2)])
    await page.goto(`${page.url()}?to=&toPrefix=later`)
    await head(page).check()
    await page.getByRole('button', { name: 'Select all that match' }).click()
    await page.getByText('All that match are selected').waitFor()
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Cancel them' }).click()
    await page.getByText('70 can be cancelled.').waitFor()
    await page.getByRole('button', { name: 'Cancel 70' }).click()
    await page.getByText('70 cancelled.').waitFor()
    expect([await count('cancelled'), await count('sent')]).toEqual([70, 2])
  })

  it('are counted up to a bound, and done beyond it', async () => {
    const { page } = suite
    const { count } = await open(names('later', 2_050))
    await head(page).check()
    await page.getByRole('button', { name: 'Select all that match' }).click()
    await page.getByRole('button', { name: 'Cancel them' }).click()
    await page.getByText('2,000+ can be cancelled.').waitFor()
    await page.getByRole('button', { name: 'Cancel 2,000+' }).click()
    await page.getByText('2,050 cancelled.').waitFor({ timeout: 120_000 })
    expect(await count('scheduled')).toBe(0)
  })

  it('wait when the server asks to, and then go on', async () => {
    const { page } = suite
    const { count } = await open(names('later', 6))
    await head(page).check()
    await page.getByRole('button', { name: 'Cancel them' }).click()
    let asked = 0
    await page.route(CANCEL, async (route) => {
      asked += 1
      if (asked > 1) return route.continue()
      const error = { code: 'rate_limit_exceeded', message: 'Too many requests.', retry_after: 2 }
      return route.fulfill({ status: 429, json: { error } })
    })
    await page.getByRole('button', { name: 'Cancel 6' }).click()
    await page.getByText('Waiting: the limit of requests is used up.').waitFor()
    await page.getByText('6 cancelled.').waitFor()
    expect([asked, await count('cancelled')]).toEqual([7, 6])
    expect(await page.getByText('Waiting:').count()).toBe(0)
  })

  it('stay when the session ends, and the dialog says so', async () => {
    const { page } = suite
    const { tenant, count } = await open(names('later', 6))
    await head(page).check()
    await page.getByRole('button', { name: 'Cancel them' }).click()
    await page.getByRole('button', { name: 'Cancel 6' }).waitFor()
    for (const { id } of (await tenant.apiKeys.list()).items) await tenant.apiKeys.delete(id)
    await page.getByRole('button', { name: 'Cancel 6' }).click()
    await page.getByText('Your session has ended. Sign in, and start again for the rest.').waitFor()
    expect(await count('scheduled')).toBe(6)
  })

  it('have checkboxes on a phone, and a bar that fits', async () => {
    const { page } = suite
    await page.setViewportSize({ width: 390, height: 844 })
    await open([`${'later.with.a.long.name.'.repeat(2)}0`, ...names('later', 59)])
    await page.getByText('Select all that are shown').click()
    await page.getByText('50 selected').waitFor()
    await assertFits(page)
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Select all that match' }).click()
    await page.getByRole('button', { name: 'Retry them' }).click()
    await page.getByText('None of them can be retried.').waitFor()
    await assertFits(page)
    expect(await page.getByRole('button', { name: /^Retry \d/ }).count()).toBe(0)
  })
})
