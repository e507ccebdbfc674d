import { expect, it } from 'vitest'
import { assertAccessible, assertFits } from '../support/dashboard/browser.ts'
import { signIn } from '../support/dashboard/sign-in.ts'
import { describeDashboard } from '../support/dashboard/suite.ts'

const HOSTILE = '<img src=x onerror=alert(1)>'

/** Runs in the browser. */
function hiddenWidth(element: unknown): number {
  const { scrollWidth, clientWidth } = element as { scrollWidth: number; clientWidth: number }
  return scrollWidth - clientWidth
}

describeDashboard('the list of notifications', {}, (suite) => {
  const send = (to: string, more: object = {}) =>
    suite.host.notifier.send({ channel: 'email', to, subject: 'Hi', body: 'Hi', ...more })

  it('sends a test message with a template and shows its way', async () => {
    const { page, host } = suite
    const template = { name: 'greeting', channel: 'email', subject: 'Hi {{name}}', body: 'Hi {{name}}!' }
    await host.notifier.templates.create(template)
    await signIn(page, host, await host.key('Write'), '/notifications')
    await page.getByText('Nothing was sent yet').waitFor()
    await page.getByRole('button', { name: 'Send a test message' }).first().click()
    await page.getByText('Use a template').click()
    const dialog = page.getByRole('dialog')
    // Other channels are built in, but have no provider here.
    expect(await dialog.getByLabel('Channel').locator('option').allTextContents()).toEqual(['email'])
    await dialog.getByLabel('Template', { exact: true }).selectOption('greeting')
    expect(await dialog.getByLabel('name').inputValue()).toBe('name')
    await assertAccessible(page)
    await dialog.getByLabel('Recipient').fill('not an address')
    await dialog.getByLabel('name').fill('Ada')
    await dialog.getByRole('button', { name: 'Send now' }).click()
    await expect.poll(() => dialog.getByLabel('Recipient').getAttribute('aria-invalid')).toBe('true')
    await dialog.getByLabel('Recipient').fill('ada@example.com')
    await dialog.getByRole('button', { name: 'Send now' }).click()
    await page.getByRole('heading', { level: 1, name: 'ada@example.com' }).waitFor()
    await page.getByText('The provider has accepted it.').waitFor()
    expect(host.sent.at(-1)).toMatchObject({ to: 'ada@example.com', subject: 'Hi Ada', body: 'Hi Ada!' })
  })

  it('sends a message once, although it is sent again after a lost answer', async () => {
    const { page, host } = suite
    await signIn(page, host, await host.key('Write'), '/notifications')
    await page.getByRole('button', { name: 'Send a test message' }).first().click()
    await page.getByRole('dialog').getByLabel('Recipient').fill('once@example.com')
    await page.route('**/v1/notify', async (route) => {
      await route.fetch()
      await route.abort()
    })
    const submit = page.getByRole('button', { name: 'Send now' })
    await submit.click()
    await page.getByText('The server cannot be reached').waitFor()
    await page.unroute('**/v1/notify')
    await submit.click()
    await page.getByRole('heading', { level: 1, name: 'once@example.com' }).waitFor()
    const { items } = await host.notifier.notifications.list({ to: 'once@example.com' })
    expect(items).toHaveLength(1)
  })

  it('filters by the address alone, so that links, reloading and the back button keep it', async () => {
    const { page, host } = suite
    await send('bounce@example.com', { subject: HOSTILE })
    const { id } = await send('grace@example.com', { sendAt: new Date(Date.now() + 86_400_000) })
    await signIn(page, host, await host.key('Read Only'), '/notifications')
    await page.getByRole('row', { name: /grace@example.com Scheduled/ }).waitFor()
    await page.getByText(HOSTILE).waitFor()
    expect(await page.getByRole('button', { name: 'Send a test message' }).count()).toBe(0)
    await page.getByLabel('Status').selectOption('scheduled')
    await page.getByRole('row', { name: /bounce/ }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'grace@example.com' }).click()
    await page.getByText(id).first().waitFor()
    await page.goBack()
    await page.getByRole('row', { name: /grace/ }).waitFor()
    expect(await page.getByLabel('Status').inputValue()).toBe('scheduled')
    await page.getByLabel('Recipient').fill('nobody@example.com')
    await page.getByText('Nothing matches these filters').waitFor()
    expect(page.url()).toContain('to=nobody%40example.com')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('row', { name: /bounce/ }).waitFor()
    expect(await page.getByLabel('Recipient').inputValue()).toBe('')
    await assertAccessible(page)
    await page.goto(`${host.url}o/org_default/notifications?code=provider_error&provider=recorder`)
    await page.getByRole('row', { name: /bounce@example.com Failed provider_error/ }).waitFor()
    expect(await page.getByRole('row').count()).toBe(2)
    expect(await page.getByLabel('Provider').inputValue()).toBe('recorder')
  })

  it('shows new ones on demand, and looks for none while it is paused', async () => {
    const { page, host } = suite
    await signIn(page, host, await host.key('Read Only'), '/notifications')
    await page.getByRole('row', { name: /bounce/ }).waitFor()
    await page.getByRole('button', { name: 'Pause refresh' }).click()
    await send('new@example.com')
    let asked = 0
    page.on('request', (request) => {
      if (request.url().includes('/v1/notifications')) asked += 1
    })
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))')
    await page.waitForTimeout(6_000)
    expect(asked).toBe(0)
    await page.getByRole('button', { name: 'Resume refresh' }).click()
    await page.getByRole('button', { name: '1 new' }).click()
    await page.getByRole('row', { name: /new@example.com/ }).waitFor()
  })

  it('loads older ones page by page', async () => {
    const { page, host } = suite
    const organization = (await host.notifier.organizations.create({ name: 'Many' })).id
    const notifications = Array.from({ length: 60 }, (_, n) => ({
      channel: 'email',
      to: `n${n}@example.com`,
      subject: 'Hi',
      body: 'Hi',
    }))
    await host.notifier.organization(organization).sendBatch(notifications)
    await signIn(page, host, await host.key('Read Only', { organization }), '/notifications', organization)
    await expect.poll(() => page.getByRole('row').count()).toBe(51)
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => page.getByRole('row').count()).toBe(61)
    expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0)
  })

  it('has one line for each, twelve on a small screen, however long they are', async () => {
    const { page, host } = suite
    const organization = (await host.notifier.organizations.create({ name: 'Long' })).id
    const notifications = Array.from({ length: 30 }, (_, n) => ({
      channel: 'email',
      to: `${n % 2 === 0 ? 'bounce' : 'later'}.with.a.long.local.part.${n}@a.long.domain.example.com`,
      subject: `${n}: a subject of many words, which tells more than one line can`,
      body: 'Hi',
      ...(n % 2 === 0 ? {} : { sendAt: new Date(Date.now() + 86_400_000) }),
    }))
    await host.notifier.organization(organization).sendBatch(notifications)
    await page.setViewportSize({ width: 1280, height: 800 })
    const secret = await host.key('Read Only', { organization })
    await signIn(page, host, secret, '/notifications', organization)
    const failed = page.getByRole('row', { name: / Failed provider_error email / })
    await page
      .getByRole('row', { name: / Scheduled Send at \d.* email / })
      .first()
      .waitFor()
    await expect.poll(() => failed.count()).toBe(15)
    const rows = await page.getByRole('row').all()
    const boxes = await Promise.all(rows.slice(1).map((row) => row.boundingBox()))
    const heights = boxes.map((box) => box?.height ?? 0)
    // A border is all that may be between them.
    expect(Math.max(...heights) - Math.min(...heights)).toBeLessThanOrEqual(1)
    expect(boxes.filter((box) => box !== null && box.y + box.height <= 800).length).toBeGreaterThan(11)
    await assertFits(page)
    const code = failed.first().getByText('provider_error')
    expect(await code.evaluate(hiddenWidth)).toBe(0)
  })
})
