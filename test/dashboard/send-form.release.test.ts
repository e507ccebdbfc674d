import { expect, it } from 'vitest'
import type { Message } from '../../src/core/ports/provider.ts'
import type { Person } from '../../src/index.ts'
import { assertAccessible, assertFits } from '../support/dashboard/browser.ts'
import type { DashboardHostOptions } from '../support/dashboard/host.ts'
import { signIn } from '../support/dashboard/sign-in.ts'
import { describeDashboard, type Suite } from '../support/dashboard/suite.ts'

const sent: Message[] = []
const recorder = {
  name: 'recorder',
  async send(message: Message) {
    sent.push(message)
    return { kind: 'accepted', providerMessageId: `m${sent.length}` } as const
  },
}
const people = new Map<string, Person>([
  ['user:42', { channels: { email: 'ada@example.com', push: ['phone', 'tablet'] } }],
  ['user:none', { channels: {} }],
])
const options: DashboardHostOptions = {
  notifier: {
    channels: { email: recorder, push: recorder },
    recipients: { resolve: (ids) => new Map(ids.map((id) => [id, people.get(id)])) },
  },
}

function form(suite: Suite) {
  const dialog = () => suite.page.getByRole('dialog', { name: 'Send a test message' })
  return {
    dialog,
    press: (name: string) => dialog().getByRole('button', { name }).click(),
    async open(): Promise<void> {
      const { page, host } = suite
      sent.length = 0
      await signIn(page, host, await host.key('Write'), '/notifications?send=test')
      await dialog().waitFor()
    },
  }
}

describeDashboard('the form that sends a message', options, (suite) => {
  const { dialog, press, open } = form(suite)

  it('sends one message to a person on several channels, and shows the group', async () => {
    const { page, host } = suite
    await open()
    await dialog().getByText('A person').click()
    await dialog().getByLabel('Person ID').fill('user:0')
    await press('Send now')
    await expect.poll(() => dialog().getByLabel('Person ID').getAttribute('aria-invalid')).toBe('true')
    await dialog().getByLabel('Person ID').fill('user:42')
    await dialog().getByLabel('email', { exact: true }).uncheck()
    await press('Send now')
    await dialog()
      .getByText(/"channels": must/)
      .waitFor()
    await assertAccessible(page)
    await dialog().getByLabel('push', { exact: true }).check()
    await dialog().getByLabel('email', { exact: true }).check()
    await press('Send now')
    await page.getByText('3 notifications were accepted.').waitFor()
    await page.getByRole('row', { name: /ada@example.com Sent/ }).waitFor()
    await page.getByRole('row', { name: /phone Sent/ }).waitFor()
    await page.getByRole('row', { name: /tablet Sent/ }).waitFor()
    const { items } = await host.notifier.notifications.list({ recipient: 'user:42' })
    expect(items).toHaveLength(3)
    expect(await page.getByLabel('Group').inputValue()).toBe(items[0]?.groupId)
    await assertAccessible(page)
    await page.getByRole('link', { name: 'phone' }).click()
    await page.getByRole('link', { name: items[0]?.groupId ?? '' }).click()
    await expect.poll(() => page.getByRole('row').count()).toBe(4)
  })

  it('sends a template for each channel, with the same variables', async () => {
    const { page, host } = suite
    const { templates } = host.notifier
    await templates.create({
      name: 'mail',
      channel: 'email',
      subject: 'Hi {{name}}',
      text: '{{name}}, {{days}} days',
    })
    await templates.create({ name: 'push', channel: 'push', text: 'Hello {{name}}' })
    await open()
    await dialog().getByText('A person').click()
    await dialog().getByLabel('Person ID').fill('user:42')
    await dialog().getByLabel('push', { exact: true }).check()
    await dialog().getByText('Use a template').click()
    await dialog().getByLabel('Template for email').selectOption('mail')
    await press('Send now')
    await expect
      .poll(() => dialog().getByLabel('Template for push').getAttribute('aria-invalid'))
      .toBe('true')
    expect(await dialog().getByLabel('Template for email').getAttribute('aria-invalid')).toBe(null)
    await dialog().getByLabel('Template for push').selectOption('push')
    await dialog().getByLabel('days', { exact: true }).fill('30')
    // Both templates use it.
    const values = dialog().getByRole('group', { name: 'Values', exact: true })
    await values.getByLabel('name', { exact: true }).fill('Ada')
    await assertAccessible(page)
    await press('Send now')
    await page.getByRole('row', { name: /tablet Sent/ }).waitFor()
    expect(sent.map(({ body }) => body).toSorted()).toEqual(['Ada, 30 days', 'Hello Ada', 'Hello Ada'])
  })
})

for (const width of [1280, 390]) {
  describeDashboard(`its check, ${width} pixels wide`, { ...options, watch: { width } }, (suite) => {
    const { dialog, press, open } = form(suite)

    it('checks a message without sending it, and says that it would wait for the end of quiet hours', async () => {
      const { page, host } = suite
      const time = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16)
      await open()
      await dialog().getByLabel('Recipient').fill('nobody')
      await press('Check first')
      await expect.poll(() => dialog().getByLabel('Recipient').getAttribute('aria-invalid')).toBe('true')
      await dialog().getByLabel('Recipient').fill('grace@example.com')
      await press('Check first')
      await dialog().getByText('It would go to grace@example.com now.').waitFor()
      await host.notifier.preferences.change(
        { recipient: 'user:42' },
        { quietHours: { zone: 'UTC', windows: [{ from: time(-1), to: time(1) }] } },
      )
      await dialog().getByText('A person').click()
      // The result was of another message.
      expect(await dialog().getByText('It would go to').count()).toBe(0)
      await dialog().getByLabel('Person ID').fill('user:42')
      await press('Check first')
      await dialog().getByText('but it would wait').waitFor()
      await dialog()
        .getByText(/^Quiet hours until \d\d:\d\d \(UTC\)\.$/)
        .waitFor()
      await assertAccessible(page)
      await assertFits(page)
      await dialog().getByLabel('Person ID').fill('user:none')
      await press('Check first')
      await dialog().getByText('The person has no address on these channels.').waitFor()
      expect(sent).toEqual([])
      const { items } = await host.notifier.notifications.list({ to: 'grace@example.com' })
      expect(items).toEqual([])
      await host.notifier.preferences.change({ recipient: 'user:42' }, { quietHours: null })
    })
  })
}
