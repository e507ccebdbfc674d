import { expect, it } from 'vitest'
import { assertAccessible } from '../support/dashboard/browser.ts'
import { signIn } from '../support/dashboard/sign-in.ts'
import { describeDashboard } from '../support/dashboard/suite.ts'

describeDashboard('the dashboard, used by a person', {}, (suite) => {
  it('signs in by a link, which leaves the address and works once', async () => {
    const { page, host } = suite
    const { id } = await host.notifier.apiKeys.create({ name: 'Ada', permission: 'Write' })
    const link = await host.dashboard.signInLink(host.url, id)
    await page.goto(link)
    await page.getByText('Ada', { exact: true }).waitFor()
    expect(page.url()).not.toContain('sign-in')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.goto('about:blank')
    await page.goto(link)
    await page.getByText('The link has been used or is older than ten minutes').waitFor()
    await assertAccessible(page)
  })

  it('says what is wrong with a key, and lets the person try again', async () => {
    const { page, host } = suite
    await page.goto(host.url)
    await assertAccessible(page)
    await page.getByLabel('API key').fill('crl_wrong')
    await page.keyboard.press('Enter')
    await page.getByText('The API key is malformed, unknown or deleted.').waitFor()
    await page.getByLabel('API key').fill(await host.key())
    await page.keyboard.press('Enter')
    await page.getByRole('navigation').waitFor()
  })

  it('keeps what was typed when the session ends in the middle', async () => {
    const { page, host } = suite
    const secret = await host.key()
    await signIn(page, host, secret, '/keys')
    await page.getByRole('button', { name: 'Create API key' }).click()
    await page.getByLabel('Name').fill('Half typed')
    const { id } = await host.notifier.apiKeys.verify(secret)
    await host.notifier.apiKeys.delete(id)
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
    await assertAccessible(page)
    await page.getByLabel('API key', { exact: true }).fill(await host.key())
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor({ state: 'detached' })
    expect(await page.getByLabel('Name').inputValue()).toBe('Half typed')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText('Copy the key now').waitFor()
  })

  it('moves by keyboard: skips to the content, follows links, closes dialogs and gives the focus back', async () => {
    const { page, host } = suite
    await signIn(page, host, await host.key(), '/keys')
    await page.getByRole('row', { name: /Test/ }).first().waitFor()
    await page.reload()
    await page.getByRole('row', { name: /Test/ }).first().waitFor()
    await page.keyboard.press('Tab')
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Skip to content')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('content')
    await page.getByRole('link', { name: 'Limits' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Limits' }).waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Limits')
    await expect.poll(() => page.title()).toBe('Limits · Carillon')
    await page.goBack()
    await page.getByRole('row', { name: /Test/ }).first().waitFor()
    await page.getByRole('button', { name: 'Create API key' }).press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Create API key')
  })

  it('opens a dialog that is modal from its first moment, so that it takes the focus from no field', async () => {
    const { page, host } = suite
    await signIn(page, host, await host.key(), '/keys')
    const modal = page.evaluate(`new Promise((resolve) => {
      new MutationObserver(() => {
        const dialog = document.querySelector('dialog')
        if (dialog !== null) resolve(dialog.matches(':modal'))
      }).observe(document, { childList: true, subtree: true })
    })`)
    await page.getByRole('button', { name: 'Create API key' }).click()
    expect(await modal).toBe(true)
  })

  it('shows where an address leads nowhere, and follows the chosen theme', async () => {
    const { page, host } = suite
    await signIn(page, host, await host.key(), '/nowhere')
    await page.getByText('This page does not exist').waitFor()
    await assertAccessible(page)
    await page.getByLabel('Theme').selectOption('Dark')
    await page.reload()
    await expect.poll(() => page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
    await page.getByRole('link', { name: 'Go to the start page' }).click()
    await page.getByText('This page does not exist').waitFor({ state: 'detached' })
  })

  it('asks nothing while the page is hidden, and tells when the server is away', async () => {
    const { page, host } = suite
    await signIn(page, host, await host.key(), '/keys')
    await page.getByRole('row', { name: /Test/ }).first().waitFor()
    await suite.watched.context.setOffline(true)
    await page.getByText('The server cannot be reached.').waitFor()
    await page.getByRole('row', { name: /Test/ }).first().waitFor()
    await suite.watched.context.setOffline(false)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('The server cannot be reached.').waitFor({ state: 'detached' })
    await page.evaluate(`
      Object.defineProperty(document, 'hidden', { get: () => true })
      window.asked = 0
      const real = window.fetch
      window.fetch = (...given) => { window.asked += 1; return real(...given) }
    `)
    await page.waitForTimeout(12_000)
    expect(await page.evaluate('window.asked')).toBe(0)
  })
})
