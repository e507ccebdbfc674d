import { exec } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Rejected } from '../../src/core/notification/outcome.ts'
import type { Provider } from '../../src/core/ports/provider.ts'
import { countClicks } from '../support/dashboard/clicks.ts'
import { type DashboardHostOptions, HOST_KINDS } from '../support/dashboard/host.ts'
import { signIn } from '../support/dashboard/sign-in.ts'
import { describeDashboard } from '../support/dashboard/suite.ts'
import { eventually } from '../support/eventually.ts'

/** Refused until they are retried. */
const REFUSED: Readonly<Record<string, Pick<Rejected, 'code' | 'scope'>>> = {
  gone: { code: 'invalid_recipient', scope: 'recipient' },
  full: { code: 'provider_error', scope: 'message' },
  large: { code: 'message_too_large', scope: 'message' },
}

const post: Provider = {
  name: 'post',
  async send({ to }, { notificationId, idempotencyKey }) {
    const refused = REFUSED[/^[a-z]+/.exec(to)?.[0] ?? '']
    return refused === undefined || idempotencyKey !== notificationId
      ? { kind: 'accepted', providerMessageId: to }
      : { kind: 'rejected', ...refused }
  },
}

let gate: Promise<void>
let openGate = (): void => {}

/** Its first message is in delivery until the gate opens, and the second one is due. */
const slow: Provider = {
  name: 'slow',
  maxConcurrent: 1,
  timeoutMs: 600_000,
  async send({ to }) {
    await gate
    return { kind: 'accepted', providerMessageId: to }
  },
}

const pager: Provider = {
  name: 'pager',
  send: async () => ({
    kind: 'retry',
    code: 'provider_unavailable',
    scope: 'message',
    message: '503 Closed for repairs',
    retryAfterMs: 3_600_000,
  }),
}

const options: DashboardHostOptions = {
  options: { apiUrl: '/api' },
  notifier: {
    channels: { email: post, sms: slow, slack: pager },
    webhooks: { allow: ['127.0.0.1/32'], allowHttp: true },
  },
}

const mail = (to: string, more: object = {}) =>
  ({ channel: 'email', to, subject: 'Your order', body: 'Hi', ...more }) as const

describeDashboard('a person at the dashboard', { ...options, kinds: HOST_KINDS }, (suite) => {
  let receiver: Server
  beforeAll(async () => {
    gate = new Promise((resolve) => {
      openGate = resolve
    })
    receiver = createServer((_, response) => response.end())
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    const { notifier } = suite.host
    await notifier.categories.create({ id: 'news', name: 'News' })
    await notifier.preferences.change(
      { channel: 'email', to: 'skipped@example.com' },
      { categories: { news: false } },
    )
    await notifier.suppressions.add({ channel: 'email', to: 'blocked@example.com', reason: 'complaint' })
    const { id } = await notifier.templates.create({
      name: 'welcome',
      channel: 'email',
      subject: 'Welcome',
      text: 'First',
    })
    await notifier.templates.update(id, { text: 'Second' })
    const draft = await notifier.templates.create({
      name: 'farewell',
      channel: 'email',
      subject: 'Farewell',
      text: 'Old',
    })
    await notifier.templates.saveDraft(draft.id, { text: 'New' })
    const refused = notifier.send({ channel: 'email', to: 'refused@example.com', template: 'unknown' })
    await expect(refused).rejects.toMatchObject({ code: 'template_not_found' })
    await notifier.sendBatch([
      mail('gone@example.com'),
      mail('skipped@example.com', { category: 'news' }),
      mail('full1@example.com'),
      mail('full2@example.com'),
      mail('large@example.com'),
      mail('ada@example.com', { metadata: { order: '4711' } }),
      mail('grace@example.com', { metadata: { order: '4711' } }),
      mail('linus@example.com', { metadata: { order: '4712' } }),
      mail('later@example.com', { sendAt: new Date(Date.now() + 86_400_000) }),
      { channel: 'email', to: 'wide@example.com', subject: 'Wide', html: '<h1>Hello</h1>' },
      { channel: 'sms', to: '+436601234567', body: 'One' },
      { channel: 'sms', to: '+436601234568', body: 'Two' },
      { channel: 'slack', to: 'C0123456789', body: 'Help' },
    ])
    await eventually(async () => {
      const { failures, waiting } = await notifier.statistics.get()
      return failures.total === 4 && waiting.retrying === 1
    })
  })
  afterAll(() => {
    openGate()
    receiver.close()
  })

  /** @param clicks from the overview, where the person has just signed in */
  function job(
    name: string,
    clicks: 0 | 1 | 2 | 3 | 4 | 5,
    steps: (page: Page) => Promise<unknown>,
    key: () => Promise<string> = () => suite.host.key(),
  ): void {
    it(`${name} in ${clicks} clicks`, async () => {
      const { page, host } = suite
      await signIn(page, host, await key())
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
      const clicked = await countClicks(page)
      await steps(page)
      expect(await clicked()).toBe(clicks)
    })
  }

  /** Two clicks. */
  async function find(text: string, result: string | RegExp = `Person ${text}`): Promise<void> {
    const { page } = suite
    await page.getByRole('button', { name: 'Search' }).click()
    const dialog = page.getByRole('dialog', { name: 'Search' })
    await dialog.getByRole('textbox').fill(text)
    await dialog.getByRole('link', { name: result }).click()
  }

  const menu = (name: string) =>
    suite.page.getByRole('navigation').getByRole('link', { name, exact: true }).click()
  const confirm = (name: string) =>
    suite.page.getByRole('dialog').getByRole('button', { name, exact: true }).click()

  job('sees how long the queue is and how old', 0, async (page) => {
    await page.getByRole('link', { name: /^Due now 1 Oldest: \d/ }).waitFor()
  })

  job('names the provider that fails', 0, async (page) => {
    const providers = page.getByRole('table', { name: 'Providers' })
    await providers
      .getByRole('row', { name: /^pager slack 0% 1 Failing since .* provider_unavailable .* 503 Closed/ })
      .waitFor()
  })

  job('learns why a mail failed', 3, async (page) => {
    await find('gone@example.com')
    await page.getByRole('link', { name: 'Your order' }).click()
    await page.getByRole('heading', { name: 'The mailbox does not exist.' }).waitFor()
  })

  job('learns why a mail was skipped', 3, async (page) => {
    await find('skipped@example.com')
    await page.getByRole('link', { name: 'Your order' }).click()
    await page.getByRole('heading', { name: 'It was skipped.' }).waitFor()
    await page.getByText('opted_out').first().waitFor()
  })

  job('learns that an address is suppressed', 2, async (page) => {
    await find('blocked@example.com')
    await page.getByRole('row', { name: /^blocked@example.com email Spam complaint/ }).waitFor()
  })

  job('learns why a mail was refused', 2, async (page) => {
    await find('refused@example.com')
    const refused = page.getByRole('table', { name: 'Recently refused' })
    await refused.getByRole('row', { name: /template_not_found/ }).waitFor()
  })

  job('lists all of order 4711', 2, async (page) => {
    await find('order:4711', 'Notifications with order:4711')
    await page.getByRole('row', { name: /ada@example.com/ }).waitFor()
    await page.getByRole('row', { name: /grace@example.com/ }).waitFor()
    await expect.poll(() => page.getByRole('row').count()).toBe(3)
  })

  job('retries one cause of failure', 3, async (page) => {
    await menu('Failures')
    await page.getByRole('button', { name: 'Retry: provider_error' }).click()
    await confirm('Retry 2')
    await page.getByText('2 of 2 are being delivered again.').waitFor()
    const failed = async () =>
      (await suite.host.notifier.notifications.list({ status: 'failed' })).items.map(({ to }) => to).sort()
    await expect.poll(failed).toEqual(['gone@example.com', 'large@example.com'])
  })

  job('creates a key and sends with it', 3, async (page) => {
    await menu('API keys')
    await page.getByRole('button', { name: 'Create API key' }).click()
    await page.getByLabel('Name').fill('Shop')
    await confirm('Create')
    const line = await page.getByLabel('curl command').inputValue()
    const live = line.replace(" -H 'X-Test-Mode: true'", '')
    expect(live).not.toBe(line)
    for (const command of [line, live]) {
      const { stdout } = await promisify(exec)(`${command} --silent --fail-with-body`)
      expect(JSON.parse(stdout)).toMatchObject({ to: 'ada@example.com' })
    }
    expect((await suite.host.notifier.notifications.list({ to: 'ada@example.com' })).items).toMatchObject([
      { subject: 'Hello' },
      { subject: 'Your order' },
    ])
  })

  job('rotates a key', 3, async (page) => {
    const { apiKeys } = suite.host.notifier
    const { secret: old } = await apiKeys.create({ name: 'Billing', permission: 'Write' })
    await menu('API keys')
    await page.getByRole('button', { name: 'Rotate: Billing' }).click()
    await confirm('Create the new key')
    const secret = await page.getByRole('textbox', { name: 'Billing' }).inputValue()
    expect(secret).not.toBe(old)
    expect(await apiKeys.verify(secret)).toMatchObject({ name: 'Billing', permission: 'Write' })
  })

  job('adds an endpoint and sees its test event in its log', 5, async (page) => {
    await menu('Webhooks')
    await page.getByRole('button', { name: 'Add endpoint' }).first().click()
    const { port } = receiver.address() as AddressInfo
    await page.getByLabel('Address').fill(`http://127.0.0.1:${port}/events`)
    await confirm('Create')
    await confirm('Done')
    await page.getByRole('button', { name: 'Send test event' }).click()
    await page.getByRole('row', { name: /^Test event Delivered 1 / }).waitFor()
  })

  job('rotates the secret of an endpoint', 4, async (page) => {
    const url = 'http://127.0.0.1:9999/rotated'
    const { secret: old } = await suite.host.notifier.webhooks.create({ url })
    await menu('Webhooks')
    await page.getByRole('link', { name: url }).click()
    await page.getByRole('button', { name: 'Rotate secret' }).click()
    await confirm('Rotate secret')
    const secret = await page.getByLabel('Signing secret', { exact: true }).inputValue()
    expect(secret).toMatch(/^whsec_/)
    expect(secret).not.toBe(old)
  })

  job('publishes a draft', 4, async (page) => {
    await menu('Templates')
    await page
      .getByRole('row', { name: /farewell/ })
      .getByRole('link', { name: 'Draft' })
      .click()
    await page.getByRole('button', { name: 'Publish draft' }).click()
    await confirm('Publish draft')
    await page.getByText('email, version 2').waitFor()
    expect(await suite.host.notifier.templates.get('farewell')).toMatchObject({ text: 'New' })
  })

  job('restores an old version', 4, async (page) => {
    await menu('Templates')
    await page.getByRole('link', { name: 'welcome' }).click()
    await page.getByRole('button', { name: 'Restore: 1' }).click()
    await confirm('Restore')
    await page.getByText('email, version 3').waitFor()
    expect(await suite.host.notifier.templates.get('welcome')).toMatchObject({ text: 'First' })
  })

  job('finds and removes a suppression', 4, async (page) => {
    const { suppressions } = suite.host.notifier
    await suppressions.add({ channel: 'email', to: 'former@example.com' })
    await menu('Suppressions')
    await page.getByLabel('Whole address').click()
    await page.keyboard.type('former@example.com')
    await expect.poll(() => page.getByRole('row').count()).toBe(2)
    await page.getByRole('button', { name: 'Remove: former@example.com' }).click()
    await confirm('Remove')
    await page.getByText('The suppression was removed.').waitFor()
    expect((await suppressions.list({ to: 'former@example.com' })).items).toEqual([])
  })

  job("changes a person's preference", 5, async (page) => {
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByRole('dialog').getByRole('textbox').fill('ada@example.com')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Change preferences' }).click()
    const dialog = page.getByRole('dialog', { name: 'Change preferences' })
    await dialog.getByLabel('Category').selectOption('News')
    await confirm('Save')
    await page.getByRole('row', { name: /^news email Off/ }).waitFor()
  })

  job('cancels a scheduled message', 4, async (page) => {
    await page.getByRole('link', { name: 'Scheduled 1' }).click()
    await page.getByRole('link', { name: 'later@example.com' }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await confirm('Cancel notification')
    await page.getByRole('heading', { name: /It was cancelled/ }).waitFor()
  })

  job(
    'sees a mail at the width of a phone',
    4,
    async (page) => {
      await menu('Notifications')
      await page.getByRole('link', { name: 'wide@example.com' }).click()
      await page.getByRole('tab', { name: 'Message' }).click()
      const frame = page.locator('iframe')
      await page.frameLocator('iframe').getByRole('heading', { name: 'Hello' }).waitFor()
      expect((await frame.boundingBox())?.width).toBeGreaterThan(600)
      await page.getByText('Phone', { exact: true }).click()
      await expect.poll(async () => (await frame.boundingBox())?.width).toBeLessThan(400)
    },
    () => suite.host.key('Read Only', { grants: ['content'] }),
  )

  job(
    'changes a plan',
    5,
    async (page) => {
      await menu('Limits')
      await page.getByRole('button', { name: 'Change plan' }).click()
      await page.getByLabel('Plan', { exact: true }).selectOption('pro')
      await confirm('Save')
      await page.getByText('Plan: pro').waitFor()
    },
    () => suite.host.operatorKey(),
  )
})
