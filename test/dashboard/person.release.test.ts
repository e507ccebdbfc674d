import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { assertAccessible, assertFits } from '../support/dashboard/browser.ts'
import { signIn } from '../support/dashboard/sign-in.ts'
import { describeDashboard } from '../support/dashboard/suite.ts'

const options = {
  notifier: {
    recipients: {
      resolve: (ids: readonly string[]) =>
        new Map(ids.map((id) => [id, { channels: { email: `${id.replace(':', '-')}@example.com` } }])),
    },
  },
}
const mail = { channel: 'email', subject: 'Hi', body: 'Hi' } as const

describeDashboard('the page of a person', options, (suite) => {
  it('tells why she got no mail, from the search in two steps', async () => {
    const { page, host } = suite
    const { notifier } = host
    const { id } = await notifier.send({ ...mail, to: 'ada@example.com' })
    await notifier.waitFor(id, { timeoutMs: 30_000 })
    await notifier.suppressions.add({ channel: 'email', to: 'ada@example.com', reason: 'complaint' })
    await expect(notifier.send({ ...mail, to: 'Ada@example.com' })).rejects.toThrow()
    await expect(notifier.send({ ...mail, to: 'Ada@example.com' })).rejects.toThrow()
    await signIn(page, host, await host.key('Read Only'), '/')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.keyboard.press('/')
    await page.getByRole('dialog').getByRole('textbox').fill('ada@example.com')
    await page.keyboard.press('Enter')
    await page.getByRole('row', { name: /ada@example.com email Spam complaint/ }).waitFor()
    await page.getByRole('row', { name: /blocked_recipient · 2 times .* Application/ }).waitFor()
    await page.getByRole('row', { name: /Hi Sent email/ }).waitFor()
    await assertAccessible(page)
    await assertFits(page)
    expect(await page.getByRole('button', { name: 'Erase' }).count()).toBe(0)
    await page.getByRole('link', { name: 'All refused messages' }).click()
    await page.getByRole('heading', { name: 'Refused messages' }).waitFor()
    await page.getByRole('row', { name: /Ada@example.com blocked_recipient/ }).waitFor()
    await assertAccessible(page)
    await page.getByLabel('Person').fill('user:1')
    await page.getByText('Nothing matches these filters').waitFor()
  })

  it('by an id leads to the addresses, and by an address to the ids', async () => {
    const { page, host } = suite
    const { id } = await host.notifier.send({ ...mail, recipient: 'user:42' })
    await host.notifier.waitFor(id, { timeoutMs: 30_000 })
    await signIn(page, host, await host.key('Read Only'), '/recipients?recipient=user%3A42')
    await page.getByRole('row', { name: /user-42@example.com email No$/ }).waitFor()
    await page.getByRole('link', { name: 'user-42@example.com' }).click()
    await page.getByRole('heading', { level: 2, name: 'user-42@example.com' }).waitFor()
    await page.getByRole('link', { name: 'user:42' }).click()
    await page.getByRole('heading', { level: 2, name: 'user:42' }).waitFor()
    await page.getByText('No message to this recipient was refused recently.').waitFor()
  })

  it('changes a preference and takes it back', async () => {
    const { page, host } = suite
    const { preferences, categories } = host.notifier
    await categories.create({ id: 'news', name: 'Newsletter' })
    await signIn(page, host, await host.key('Write'), '/recipients?recipient=user%3A7')
    await page.getByRole('button', { name: 'Change preferences' }).click()
    const dialog = page.getByRole('dialog', { name: 'Change preferences' })
    await dialog.getByLabel('Category').selectOption('Newsletter')
    await dialog.getByLabel('Channel').selectOption('email')
    await dialog.getByLabel('Choice').selectOption('Off')
    await assertAccessible(page)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('row', { name: /news email Off/ }).waitFor()
    expect((await preferences.get({ recipient: 'user:7' })).categories).toEqual({ news: { email: false } })
    await page.getByRole('button', { name: 'Remove the choice: news, email' }).click()
    await page.getByText('The preferences of the organization apply').waitFor()
    expect((await preferences.get({ recipient: 'user:7' })).categories).toEqual({})
  })

  it('exports what is stored, and erases it once the name was typed', async () => {
    const { page, host } = suite
    const { notifier } = host
    const { id } = await notifier.send({ ...mail, to: 'bob@example.com' })
    await notifier.waitFor(id, { timeoutMs: 30_000 })
    const secret = await host.key('Full Access', { grants: ['content'] })
    await signIn(page, host, secret, '/recipients?channel=email&to=bob%40example.com')
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    const download = await downloading
    const [line = ''] = (await readFile(await download.path(), 'utf8')).split('\n')
    expect(JSON.parse(line)).toMatchObject({ type: 'notification', to: 'bob@example.com' })

    await page.getByRole('button', { name: 'Erase' }).click()
    const dialog = page.getByRole('dialog', { name: 'Erase bob@example.com?' })
    await dialog.getByText('Notifications', { exact: true }).waitFor()
    const erase = dialog.getByRole('button', { name: 'Erase' })
    expect(await erase.isDisabled()).toBe(true)
    await assertAccessible(page)
    await dialog.getByLabel('Type bob@example.com to confirm').fill('bob@example.com')
    // Its last pass comes a minute later.
    let answers = 0
    await page.route('**/v1/erasures/*', async (route) => {
      answers += 1
      const response = await route.fetch()
      const status = answers > 1 ? 'completed' : 'running'
      await route.fulfill({ response, json: { ...(await response.json()), status } })
    })
    await erase.click()
    await dialog.getByText('Erasing.').waitFor()
    expect((await notifier.notifications.get(id)).to).not.toContain('bob')
    await dialog.getByText('The data was erased.').waitFor()
    await assertAccessible(page)
    await dialog.getByRole('button', { name: 'Close' }).first().click()
    await page.getByText('No notifications to this recipient.').waitFor()
  })
})

describeDashboard('the page of a person on a phone', { ...options, watch: { width: 390 } }, (suite) => {
  it('fits', async () => {
    const { page, host } = suite
    await host.notifier.send({ ...mail, recipient: 'user:42' })
    await expect(host.notifier.send({ ...mail, to: 'ada@' })).rejects.toThrow()
    const to = `${'long'.repeat(12)}@example.com`
    await host.notifier.suppressions.add({ channel: 'email', to })
    await expect(host.notifier.send({ ...mail, to })).rejects.toThrow()
    await signIn(page, host, await host.key(), `/recipients?channel=email&to=${to}`)
    await page.getByRole('link', { name: 'By hand' }).waitFor()
    await page.getByText('blocked_recipient').waitFor()
    await assertFits(page)
    await assertAccessible(page)
    await page.getByRole('link', { name: 'All refused messages' }).click()
    await page.getByText('invalid_email').waitFor()
    await assertFits(page)
  })
})
