import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { assertAccessible, assertFits } from '../support/dashboard/browser.ts'
import { signIn } from '../support/dashboard/sign-in.ts'
import { describeDashboard, type Suite } from '../support/dashboard/suite.ts'

const IDS = ['org_acme', 'org_bolt']
const options = { notifier: { webhooks: { allow: ['127.0.0.1/32'], allowHttp: true } } }

const nameOf = (id: string): string => `${id.slice(4)} & Sons`

/** In each organization one message that was sent, and one that failed. */
async function plant({ host: { notifier } }: Suite): Promise<void> {
  for (const id of IDS) {
    await notifier.organizations.create({ id, name: nameOf(id) })
    const organization = notifier.organization(id)
    for (const to of [`bounce@${id.slice(4)}.example`, `ada@${id.slice(4)}.example`]) {
      const sent = await organization.send({ channel: 'email', to, subject: 'Hi', body: 'Hi' })
      await organization.waitFor(sent.id, { timeoutMs: 30_000 })
    }
  }
}

describeDashboard('all organizations together', options, (suite) => {
  let receiver: Server
  beforeAll(async () => {
    receiver = createServer((_, response) => response.end())
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    await plant(suite)
  })
  afterAll(() => receiver.close())

  const choose = () => suite.page.getByRole('combobox', { name: 'Organization' })

  async function enter(path: string, permission: 'Read Only' | 'Full Access' = 'Full Access'): Promise<void> {
    await signIn(suite.page, suite.host, await suite.host.operatorKey(permission), path, '*')
  }

  it('are chosen by an operator, and counted and listed with a link into each', async () => {
    const { page, host } = suite
    await page.goto(host.url)
    await page.getByLabel('API key').fill(await host.operatorKey())
    await page.getByRole('button', { name: 'Sign in' }).click()
    await choose().selectOption('All organizations')
    await page.getByRole('img', { name: 'In the last 24 hours 2 were sent and 2 failed.' }).waitFor()
    await assertAccessible(page)
    await page.getByRole('link', { name: /^Failed 2/ }).click()
    await page.getByRole('row', { name: /provider_error .* email recorder 2/ }).waitFor()
    await page.getByText('To retry failures, choose an organization.').waitFor()
    expect(await page.getByRole('button', { name: /Retry/ }).count()).toBe(0)
    await assertAccessible(page)
    await page.getByRole('link', { name: 'provider_error' }).click()
    await page.getByRole('row', { name: /bounce@acme.example acme & Sons Failed/ }).waitFor()
    await page.getByRole('row', { name: /bounce@bolt.example bolt & Sons Failed/ }).waitFor()
    expect(await page.getByRole('row').count()).toBe(3)
    expect(await page.getByRole('button', { name: 'Send a test message' }).count()).toBe(0)
    await assertAccessible(page)
    await page.getByRole('link', { name: 'bounce@bolt.example' }).click()
    await page.getByRole('heading', { name: 'It was not delivered.' }).waitFor()
    expect(await choose().inputValue()).toBe('org_bolt')
    await page.goBack()
    await page.getByRole('link', { name: 'acme & Sons' }).click()
    await page.getByRole('img', { name: 'In the last 24 hours 1 were sent and 1 failed.' }).waitFor()
    await choose().selectOption('Choose an organization…')
    await page.getByRole('heading', { level: 1, name: 'Organizations' }).waitFor()
  })

  it('are not shown by pages of one organization, which say so', async () => {
    const { page } = suite
    await enter('/notifications')
    await page.getByRole('row', { name: /ada@acme.example acme & Sons Sent/ }).waitFor()
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    for (const name of ['Templates', 'API keys', 'Suppressions', 'Recipients', 'Quiet hours', 'Limits']) {
      await page.getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { level: 1, name }).waitFor()
      await page.getByText('This page shows one organization at a time.').waitFor()
    }
    expect(asked.filter((url) => url.includes('/api/'))).toEqual([])
    await assertAccessible(page)
    await page.getByRole('link', { name: 'Choose an organization' }).click()
    await page.getByRole('row', { name: /bolt & Sons/ }).waitFor()
  })

  it('have endpoints of operators, whose deliveries name the organization', async () => {
    const { page, host } = suite
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/events`
    await enter('/webhooks')
    await page.getByText('receive events about deliveries of every organization').waitFor()
    await page.getByRole('button', { name: 'Add endpoint' }).first().click()
    await page.getByLabel('Address').fill(url)
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('heading', { level: 1, name: url }).waitFor()
    const { items } = await host.notifier.allOrganizations.webhooks.list()
    expect(items).toMatchObject([{ url }])
    for (const id of IDS) {
      expect((await host.notifier.organization(id).webhooks.list()).items).toEqual([])
      await host.notifier
        .organization(id)
        .send({ channel: 'email', to: 'told@example.com', subject: 'Hi', body: 'Hi' })
    }
    const delivered = async () => {
      const log = await host.notifier.allOrganizations.webhooks.deliveries(items[0]?.id ?? '')
      return log.items.filter(({ status }) => status === 'delivered').length
    }
    await expect.poll(delivered).toBe(2)
    await page.reload()
    await page.getByRole('row', { name: /notification.sent Delivered acme & Sons 1/ }).waitFor()
    await page.getByRole('row', { name: /notification.sent Delivered bolt & Sons 1/ }).waitFor()
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Disable' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
    await page.getByText('The endpoint is disabled. Its events are held.').waitFor()
    expect((await host.notifier.allOrganizations.webhooks.list()).items).toMatchObject([
      { status: 'disabled' },
    ])
    await page.getByRole('link', { name: 'bolt & Sons' }).first().click()
    await page.getByRole('link', { name: 'Webhooks' }).click()
    await page.getByText('No webhook endpoints yet').waitFor()
  })

  it('have listeners of the application, which can be paused, and nothing else that needs an address', async () => {
    const { page, host } = suite
    await host.notifier.allOrganizations.listen('mirror', () => {})
    await enter('/webhooks')
    await page.getByRole('link', { name: 'listener:mirror' }).click()
    await page.getByText('These events go to a function of the application').waitFor()
    const main = page.getByRole('main')
    expect(await main.getByRole('button').allTextContents()).toEqual(['Redeliver', 'Disable', 'Delete'])
    await assertAccessible(page)
    await main.getByRole('button', { name: 'Disable' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
    await page.getByText('The endpoint is disabled. Its events are held.').waitFor()
    const { items } = await host.notifier.allOrganizations.webhooks.list()
    expect(items.find(({ url }) => url === 'listener:mirror')).toMatchObject({ status: 'disabled' })
  })

  it('are shown to no key of an organization', async () => {
    const { page, host } = suite
    await signIn(page, host, await host.key('Full Access'), '/notifications', '*')
    await page.getByText('The resource belongs to another organization.').waitFor()
    expect(await choose().count()).toBe(0)
    expect(await page.getByRole('row').count()).toBe(0)
  })
})

describeDashboard('all organizations on a phone', { watch: { width: 390 } }, (suite) => {
  it('fit the screen', async () => {
    const { page, host } = suite
    await plant(suite)
    await signIn(page, host, await host.operatorKey('Read Only'), '/notifications', '*')
    await page.getByRole('link', { name: 'bounce@bolt.example' }).waitFor()
    await page.getByRole('link', { name: 'bolt & Sons' }).first().waitFor()
    await assertFits(page)
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Menu' }).click()
    await assertAccessible(page)
    await page.getByRole('combobox', { name: 'Organization' }).selectOption('All organizations')
    await page.getByRole('link', { name: /^Failed 2/ }).waitFor()
    await assertFits(page)
    await assertAccessible(page)
  })
})
