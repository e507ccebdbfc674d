import { expect, it } from 'vitest'
import { assertAccessible, watch } from '../support/dashboard/browser.ts'
import { signIn } from '../support/dashboard/sign-in.ts'
import { describeDashboard } from '../support/dashboard/suite.ts'

describeDashboard('ways through the dashboard', {}, (suite) => {
  it('lead back to the place in a list, with all that was shown, until somebody else signs in', async () => {
    const { page, host } = suite
    const notifications = Array.from({ length: 120 }, (_, n) => ({
      channel: 'email',
      to: `n${n}@example.com`,
      subject: 'Hi',
      body: 'Hi',
    }))
    await host.notifier.sendBatch(notifications)
    await signIn(page, host, await host.key('Read Only'), '/notifications')
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => page.getByRole('row').count()).toBe(101)
    const link = page.getByRole('row').nth(90).getByRole('link')
    await link.scrollIntoViewIfNeeded()
    const place = await page.evaluate('scrollY')
    expect(place).toBeGreaterThan(1_000)
    await link.click()
    await page.getByRole('heading', { level: 1, name: /^n\d+@/ }).waitFor()
    expect(await page.evaluate('scrollY')).toBe(0)
    await page.goBack()
    await expect.poll(() => page.evaluate('scrollY')).toBe(place)
    expect(await page.getByRole('row').count()).toBe(101)
    await page.getByRole('link', { name: 'Failures' }).click()
    await page.getByRole('heading', { level: 1, name: 'Failures' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    const organization = (await host.notifier.organizations.create({ name: 'Other' })).id
    await page.getByLabel('API key').fill(await host.key('Read Only', { organization }))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.locator('nav').first().waitFor()
    await page.goBack()
    await page.getByRole('alert').first().waitFor()
    expect(await page.getByText('@example.com').count()).toBe(0)
  })

  it('show no error of an ended session after signing in again', async () => {
    const { page, host } = suite
    const { apiKeys } = host.notifier
    const first = await apiKeys.create({ name: 'First', permission: 'Read Only' })
    await signIn(page, host, first.secret, '/failures')
    await page.getByRole('heading', { level: 1, name: 'Failures' }).waitFor()
    await apiKeys.delete(first.id)
    await page.getByLabel('Channel').selectOption('email')
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
    await dialog.waitFor()
    await dialog.getByLabel('API key').fill(await host.key('Read Only'))
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText(/No failures|Nothing matches/).waitFor({ timeout: 4_000 })
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  it('have dates in the language and the clock of the browser', async () => {
    const { browser, host } = suite
    const sendAt = new Date(Math.ceil(Date.now() / 3_600_000) * 3_600_000 + 30 * 86_400_000)
    const { id } = await host.notifier.send({
      channel: 'email',
      to: 'a@example.com',
      body: 'Hi',
      subject: 'Hi',
      sendAt,
    })
    for (const [locale, text] of [
      ['de-AT', /Send at\d{1,2}\.\d{1,2}\.\d{4}, \d{2}:00:00/],
      ['en-US', /Send at[A-Z][a-z]{2} \d{1,2}, \d{4}, \d{1,2}:00:00 [AP]M/],
    ] as const) {
      const { page, close } = await watch(browser, host.origin, { locale })
      await signIn(page, host, await host.key('Read Only'), `/notifications/${id}`)
      const shown = await page.getByRole('region', { name: 'Facts' }).textContent()
      expect(shown?.replaceAll('\u202f', ' ')).toMatch(text)
      await close()
    }
  })
})

describeDashboard('the menu on a phone', { watch: { width: 390 } }, (suite) => {
  it('says whether it is open, and is closed by Escape', async () => {
    const { page, host } = suite
    await signIn(page, host, await host.key('Read Only'), '/')
    const button = page.getByRole('button', { name: 'Menu' })
    expect(await button.getAttribute('aria-expanded')).toBe('false')
    await button.click()
    expect(await button.getAttribute('aria-expanded')).toBe('true')
    const entry = page.getByRole('link', { name: 'Failures', exact: true })
    await entry.focus()
    await assertAccessible(page)
    await page.keyboard.press('Escape')
    await entry.waitFor({ state: 'hidden' })
    expect(await button.getAttribute('aria-expanded')).toBe('false')
    expect(await button.evaluate('document.activeElement.ariaLabel')).toBe('Menu')
  })
})
