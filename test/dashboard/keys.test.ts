import { exec } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { assertAccessible } from '../support/dashboard/browser.ts'
import { signIn } from '../support/dashboard/sign-in.ts'
import { describeDashboard } from '../support/dashboard/suite.ts'

describeDashboard('the page of API keys', { options: { apiUrl: '/api' } }, (suite) => {
  it('creates a key that works, shows its secret once, and deletes it', async () => {
    const { page, host } = suite
    await signIn(page, host, await host.key(), '/keys')
    await page.getByRole('button', { name: 'Create API key' }).click()
    await page.getByLabel('Name').fill('Shop')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    const secret = await page.getByLabel('Shop').inputValue()
    const { notifier } = host
    expect(await notifier.apiKeys.verify(secret)).toMatchObject({ name: 'Shop', permission: 'Write' })
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('row', { name: /Shop/ }).waitFor()
    expect(await page.content()).not.toContain(secret)
    await page.getByRole('button', { name: 'Delete: Shop' }).click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('The key was deleted.').waitFor()
    await expect(notifier.apiKeys.verify(secret)).rejects.toMatchObject({ code: 'invalid_api_key' })
  })

  it('shows a new key with a curl line that works', async () => {
    const { page, host } = suite
    await signIn(page, host, await host.key(), '/keys')
    for (const permission of ['Write', 'Read Only']) {
      await page.getByRole('button', { name: 'Create API key' }).click()
      await page.getByLabel('Name').fill(permission)
      await page.getByLabel('Permission').selectOption(permission)
      await page.getByRole('button', { name: 'Create', exact: true }).click()
      const line = await page.getByLabel('curl command').inputValue()
      await assertAccessible(page)
      const { stdout } = await promisify(exec)(`${line} --silent --fail-with-body`)
      const answer = {
        Write: { to: 'ada@example.com', rendered: { subject: 'Hello' } },
        'Read Only': { permission },
      }[permission]
      expect(JSON.parse(stdout)).toMatchObject(answer as object)
      await page.getByRole('button', { name: 'Done' }).click()
    }
    expect(host.sent).toEqual([])
  })

  it('warns before the key is deleted that signed the person in', async () => {
    const { page, host } = suite
    const { id, secret } = await host.notifier.apiKeys.create({ name: 'Mine', permission: 'Full Access' })
    await signIn(page, host, secret, '/keys')
    await page.getByRole('row', { name: /Mine You are signed in with it/ }).waitFor()
    await page.getByRole('button', { name: 'Delete: Mine' }).click()
    await page.getByText('You are signed in with this key. Deleting it signs you out').waitFor()
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect(await host.notifier.apiKeys.verify(secret)).toMatchObject({ id })
    await page.getByRole('button', { name: 'Delete: Mine' }).click()
    await page.getByRole('button', { name: 'Delete and sign out' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await expect(host.notifier.apiKeys.verify(secret)).rejects.toMatchObject({ code: 'invalid_api_key' })
  })

  it('says what is wrong beside the field, and keeps what was typed', async () => {
    const { page, host } = suite
    await signIn(page, host, await host.key(), '/keys')
    await page.getByRole('button', { name: 'Create API key' }).click()
    await page.getByLabel('Name').fill('Shop')
    await page.getByLabel('Allowed addresses').fill('not an address')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText(/must be an IP address or a CIDR block/).waitFor()
    expect(await page.getByLabel('Name').inputValue()).toBe('Shop')
    await assertAccessible(page)
  })

  it('guides through a rotation: a new key with the same rights, then the end of the old one', async () => {
    const { page, host } = suite
    const { apiKeys } = host.notifier
    const expiresAt = new Date(Date.now() + 30 * 86_400_000).toISOString()
    const rights = { permission: 'Read Only', allowedIps: ['203.0.113.0/24'], expiresAt } as const
    const old = await apiKeys.create({ name: 'Billing', ...rights })
    await signIn(page, host, await host.key(), '/keys')
    await page.getByRole('button', { name: 'Rotate: Billing' }).click()
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Create the new key' }).click()
    const secret = await page.getByRole('textbox', { name: 'Billing' }).inputValue()
    expect(await apiKeys.verify(secret)).toMatchObject({ name: 'Billing', ...rights })
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByText('“Billing” is being rotated').waitFor()
    await page.getByText('The old key stops').waitFor()
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Delete the old key' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('The key was deleted.').waitFor()
    await page.getByText('“Billing” is being rotated').waitFor({ state: 'detached' })
    const { items } = await apiKeys.list()
    expect(items.map(({ id }) => id)).not.toContain(old.id)
    expect(items.filter(({ name }) => name === 'Billing')).toMatchObject([rights])
  })
})
