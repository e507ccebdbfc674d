import { expect, it } from 'vitest'
import { assertAccessible, assertFits } from '../support/dashboard/browser.ts'
import { signIn } from '../support/dashboard/sign-in.ts'
import { describeDashboard } from '../support/dashboard/suite.ts'

const mail = (to: string, more: object = {}) =>
  ({ channel: 'email', to, subject: 'Hi', body: 'Hi', ...more }) as const

describeDashboard('the search', {}, (suite) => {
  const dialog = () => suite.page.getByRole('dialog', { name: 'Search' })
  const links = () => dialog().getByRole('link')

  async function search(text: string): Promise<void> {
    await suite.page.keyboard.press('/')
    await dialog().getByRole('textbox').fill(text)
  }

  it('leads by keys to an address, its beginning, a person, metadata, a template and ids', async () => {
    const { page, host } = suite
    const { notifier } = host
    const { id } = await notifier.send(mail('ada@example.com', { metadata: { order: '4711' } }))
    await notifier.send(mail('adele@example.com', { metadata: { order: '4711' } }))
    const template = await notifier.templates.create({
      name: 'welcome',
      channel: 'email',
      subject: 'Hi',
      body: 'x',
    })
    const endpoint = await notifier.webhooks.create({ url: 'https://example.com/events' })
    await signIn(page, host, await host.key(), '/limits')
    await page.getByRole('heading', { name: 'Limits' }).waitFor()

    await search('ada@example.com')
    await dialog().getByRole('link', { name: 'Notifications to ada@example.com' }).waitFor()
    expect(await links().first().textContent()).toContain('Person ada@example.com')
    await assertAccessible(page)
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })

    await search('order:4711')
    await dialog().getByRole('link', { name: 'Notifications with order:4711' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('row', { name: /adele@example.com/ }).waitFor()
    await expect.poll(() => page.getByRole('row').count()).toBe(3)
    expect(await page.getByLabel('Metadata').inputValue()).toBe('order:4711')

    await search('ade')
    await dialog().getByRole('link', { name: 'addresses that begin with ade' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.getByRole('row').count()).toBe(2)

    await search('welcome')
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.pathname.endsWith(`/templates/${template.id}`))
    await page.getByRole('heading', { level: 1 }).waitFor()

    const digits = id.slice('notif_'.length)
    for (const named of [id, `evt_${digits}_2`, `log_${digits}_1`]) {
      await page.goto(`${host.url}o/org_default/limits`)
      await page.getByRole('heading', { name: 'Limits' }).waitFor()
      await search(named)
      await page.keyboard.press('Enter')
      await page.waitForURL((url) => url.pathname.endsWith(`/notifications/${id}`))
    }
    await page.getByRole('heading', { name: 'Timeline' }).or(page.getByText('Timeline')).first().waitFor()
    await search(endpoint.id)
    await dialog().getByRole('link', { name: 'https://example.com/events' }).click()
    await page.waitForURL((url) => url.pathname.endsWith(`/webhooks/${endpoint.id}`))
    await dialog().waitFor({ state: 'detached' })
  })

  it('says when nothing is found, and leads to the page of an unknown person', async () => {
    const { page, host } = suite
    await signIn(page, host, await host.key('Read Only'), '/')
    await page.getByRole('button', { name: 'Search' }).first().click()
    await dialog().getByRole('textbox').fill('notif_1795262400000041331242462190785999')
    await dialog().getByText('Nothing found for').waitFor()
    await dialog().getByRole('textbox').fill('user:unknown')
    await dialog().getByRole('link', { name: 'Person user:unknown' }).click()
    await page.getByRole('heading', { level: 2, name: 'user:unknown' }).waitFor()
  })

  it('goes over all organizations, and to one by its id', async () => {
    const { page, host } = suite
    await host.notifier.organizations.create({ id: 'org_acme', name: 'Acme' })
    const { id } = await host.notifier.organization('org_acme').send(mail('ada@example.com'))
    await signIn(page, host, await host.operatorKey('Read Only'), '/', '*')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await search(id)
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.pathname.endsWith(`/o/org_acme/notifications/${id}`))
    await page.goto(host.url)
    await page.getByRole('heading', { name: 'Operations' }).waitFor()
    await search('org_acme')
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.pathname.endsWith('/o/org_acme/'))
    await page.goto(host.url)
    await page.getByRole('heading', { name: 'Operations' }).waitFor()
    await search('ada@')
    await dialog().getByRole('link', { name: 'addresses that begin with ada@' }).click()
    await page.waitForURL((url) => url.pathname.endsWith('/o/*/notifications'))
  })
})

describeDashboard('the search on a phone', { watch: { width: 390 } }, (suite) => {
  it('is in the bar, and fits', async () => {
    const { page, host } = suite
    await host.notifier.send(mail('ada@example.com'))
    await signIn(page, host, await host.key('Read Only'), '/notifications')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByRole('dialog').getByRole('textbox').fill('ada@example.com')
    await page.getByRole('link', { name: 'Notifications to ada@example.com' }).waitFor()
    await assertFits(page)
    await assertAccessible(page)
  })
})
