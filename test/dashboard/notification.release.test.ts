import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { assertAccessible } from '../support/dashboard/browser.ts'
import type { DashboardHostOptions } from '../support/dashboard/host.ts'
import { signIn } from '../support/dashboard/sign-in.ts'
import { describeDashboard } from '../support/dashboard/suite.ts'

const HOSTILE = '<img src=x onerror=alert(1)>'
const html = (
  pixel: string,
) => `<h1 style="color: teal">Welcome</h1><a href="https://example.com/unsubscribe">Out</a>
<script>document.body.textContent = 'hacked'</script>${HOSTILE}<img src="${pixel}">`

/** Runs in the browser. */
function colorOf(element: unknown): string {
  const { getComputedStyle } = globalThis as unknown as { getComputedStyle(of: unknown): { color: string } }
  return getComputedStyle(element).color
}

const provider = {
  name: 'recorder',
  retry: { kind: 'schedule', delaysMs: [3_600_000], jitter: 0 },
  async send({ to }: { readonly to: string }) {
    if (to.startsWith('gone'))
      return {
        kind: 'rejected',
        code: 'invalid_recipient',
        scope: 'recipient',
        message: '550 5.1.1 User unknown',
      } as const
    if (to.startsWith('unclear')) return { kind: 'ambiguous', reason: 'No answer.' } as const
    if (to.startsWith('busy')) return { kind: 'retry', code: 'provider_unavailable' } as const
    if (!to.startsWith('bounce')) return { kind: 'accepted', providerMessageId: to } as const
    return { kind: 'rejected', code: 'mailbox_not_found', scope: 'recipient' } as const
  },
}
const options = {
  notifier: { channels: { email: provider }, webhooks: { allow: ['127.0.0.1/32'], allowHttp: true } },
}

describeDashboard('the page of a notification', options as DashboardHostOptions, (suite) => {
  let tracker: Server
  let tracked = 0
  beforeAll(async () => {
    tracker = createServer(({ url }, response) => {
      if (url !== '/events') tracked += 1
      response.end()
    })
    await new Promise<void>((resolve) => tracker.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => tracker.close())
  const origin = () => `http://127.0.0.1:${(tracker.address() as AddressInfo).port}`
  const send = async (to: string, more: object = {}) => {
    const message = { channel: 'email', to, subject: HOSTILE, body: HOSTILE, ...more }
    return (await suite.host.notifier.send(message)).id
  }
  const status = async (id: string) => (await suite.host.notifier.notifications.get(id)).status

  it('lists what every gate decided', async () => {
    const { page, host } = suite
    const id = await send('judged@example.com', { sendAt: new Date(Date.now() + 3_600_000) })
    await host.notifier.suppressions.add({ channel: 'email', to: 'judged@example.com' })
    await signIn(page, host, await host.key(), `/notifications/${id}?tab=gates`)
    const rows = page.getByRole('table', { name: 'Why' }).getByRole('row')
    await rows.filter({ hasText: 'Suppressions' }).getByText('Refused').waitFor()
    await rows.filter({ hasText: 'Suppressions' }).getByText('If checked now').waitFor()
    await rows.filter({ hasText: 'Send time' }).getByText('Waiting').waitFor()
    await rows.filter({ hasText: 'Preferences' }).getByText('Passed').waitFor()
    await assertAccessible(page)
  })

  it('says why it was not sent and what to do, and retries', async () => {
    const { page, host } = suite
    const id = await send('bounce@example.com')
    await signIn(page, host, await host.key(), `/notifications/${id}`)
    await page.getByRole('heading', { name: 'It was not delivered.' }).waitFor()
    await page
      .getByText('The provider refused the message for a reason without a code here.')
      .first()
      .waitFor()
    await page.getByText('Provider code: mailbox_not_found').first().waitFor()
    await page.getByText("What to do: Look at the provider's own code.").waitFor()
    await page.getByText('Attempt 1 · recorder').waitFor()
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Retry' }).click()
    await assertAccessible(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Retry' }).click()
    await page.getByText('The notification is being delivered again.').waitFor()
    await page.getByText('Retried', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Failures with this code' }).click()
    await page.getByRole('heading', { level: 1, name: 'Notifications' }).waitFor()
    await page.getByRole('row', { name: /bounce@example.com/ }).waitFor()
    expect(page.url()).toMatch(/status=failed&code=provider_error$/)
  })

  it('says that a mailbox does not exist and is suppressed now, and offers nothing that must fail', async () => {
    const { page, host } = suite
    const id = await send('gone@example.com')
    await signIn(page, host, await host.key(), `/notifications/${id}`)
    await page.getByRole('heading', { name: 'The mailbox does not exist.' }).waitFor()
    await page.getByText('550 5.1.1 User unknown').first().waitFor()
    await page.getByText('What to do: Correct the address in your application.').waitFor()
    expect(await page.getByRole('button', { name: /Retry|Send again|Cancel/ }).count()).toBe(0)
    await assertAccessible(page)
    await page.goto(`${host.url}o/org_default/failures`)
    const row = page.getByRole('row', { name: /invalid_recipient Permanent/ })
    await row.waitFor()
    expect(await row.getByRole('button').count()).toBe(0)
    await page
      .getByRole('row', { name: /provider_error Needs a change/ })
      .getByRole('button')
      .waitFor()
    await page.goBack()
    await page.getByText('The address is now suppressed').waitFor()
    await page.getByRole('link', { name: 'Suppressed recipients' }).click()
    await page.getByRole('row', { name: /gone@example.com .*Hard bounce/ }).waitFor()
  })

  it('leads from what was skipped to others with the same cause', async () => {
    const { page, host } = suite
    await host.notifier.categories.create({ id: 'news', name: 'News' })
    await host.notifier.preferences.change(
      { channel: 'email', to: 'out@example.com' },
      { categories: { news: false } },
    )
    const id = await send('out@example.com', { category: 'news' })
    await signIn(page, host, await host.key(), `/notifications/${id}`)
    await page.getByRole('heading', { name: 'It was skipped.' }).waitFor()
    await page.getByRole('link', { name: 'Notifications with this code' }).click()
    await page.getByRole('row', { name: /out@example.com Skipped opted_out/ }).waitFor()
  })

  it('says that it waits for another attempt, why, and until when', async () => {
    const { page, host } = suite
    const id = await send('busy@example.com')
    await signIn(page, host, await host.key('Read Only'), `/notifications/${id}`)
    await page.getByRole('heading', { name: 'The last attempt failed.' }).waitFor()
    await page.getByText(/^Next attempt: /).waitFor()
    await page.getByText('There is nothing to do unless the cause is on your side.').waitFor()
    expect(await page.getByRole('button', { name: 'Send again' }).count()).toBe(0)
    await assertAccessible(page)
  })

  it('shows the webhook events about it', async () => {
    const { page, host } = suite
    const endpoint = await host.notifier.webhooks.create({ url: `${origin()}/events` })
    const id = await send('ada@example.com')
    await signIn(page, host, await host.key('Read Only'), `/notifications/${id}?tab=events`)
    await page.getByRole('row', { name: /notification.sent Delivered/ }).waitFor()
    await assertAccessible(page)
    await page.getByRole('button', { name: 'notification.sent' }).click()
    await page.getByText('Attempt 1').waitFor()
    await page.getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('link', { name: endpoint.id }).click()
    await page.getByRole('heading', { level: 1, name: endpoint.url }).waitFor()
  })

  it('sends it again as a new one, which names the old', async () => {
    const { page, host } = suite
    const id = await send('ada@example.com')
    await expect.poll(() => status(id)).toBe('sent')
    await signIn(page, host, await host.key('Write'), `/notifications/${id}`)
    await page.getByRole('button', { name: 'Send again' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click()
    await page.getByText('The message was sent again. This is the new notification.').waitFor()
    await page.getByRole('link', { name: id }).click()
    await page.getByRole('link', { name: id }).waitFor({ state: 'detached' })
    expect(page.url()).toMatch(new RegExp(`${id}$`))
  })

  it('cancels one that waits, and says why it cannot when it is too late', async () => {
    const { page, host } = suite
    const later = { sendAt: new Date(Date.now() + 86_400_000) }
    const id = await send('later@example.com', later)
    await signIn(page, host, await host.key('Write'), `/notifications/${id}`)
    await page.getByRole('heading', { name: 'Waiting for its send time.' }).waitFor()
    const cancel = async () => {
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    }
    await cancel()
    await page.getByRole('heading', { name: /It was cancelled/ }).waitFor()
    expect(await status(id)).toBe('cancelled')

    const other = await send('later@example.com', later)
    await page.goto(`${host.url}o/org_default/notifications/${other}`)
    await page.getByRole('heading', { name: 'Waiting for its send time.' }).waitFor()
    await host.notifier.notifications.cancel(other)
    await cancel()
    await page.getByText('It cannot be cancelled: it has ended.').waitFor()
  })

  const tried = async (to: string) => {
    const id = await send(to)
    await expect
      .poll(async () => (await suite.host.notifier.notifications.get(id)).waiting?.reason)
      .toBe('retry')
    return id
  }

  it('cancels one that waits for another attempt', async () => {
    const { page, host } = suite
    const id = await tried('busy@example.com')
    await signIn(page, host, await host.key('Write'), `/notifications/${id}`)
    await page.getByRole('heading', { name: 'The last attempt failed.' }).waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog').getByText('No more attempts are made.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('heading', { name: 'It was cancelled. Nothing was sent.' }).waitFor()
    expect(await status(id)).toBe('cancelled')
  })

  it('says that an earlier attempt of a cancelled one may have arrived', async () => {
    const { page, host } = suite
    const id = await tried('unclear@example.com')
    await signIn(page, host, await host.key('Write'), `/notifications/${id}`)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('heading', { name: 'It was cancelled between two attempts.' }).waitFor()
    await page.getByText('An earlier attempt may have reached the recipient.').first().waitFor()
    await assertAccessible(page)
  })

  it('gives one that waits another time', async () => {
    const { page, host } = suite
    const id = await send('later@example.com', { sendAt: new Date(Date.now() + 86_400_000) })
    await signIn(page, host, await host.key('Write'), `/notifications/${id}`)
    await page.getByRole('button', { name: 'Reschedule' }).click()
    await assertAccessible(page)
    const [day = ''] = new Date(Date.now() + 10 * 86_400_000).toISOString().split('T')
    await page.getByLabel('New time').fill(`${day}T12:00`)
    await page.getByRole('dialog').getByRole('button', { name: 'Reschedule' }).click()
    await page.getByText('The notification was rescheduled.').waitFor()
    await page.getByText('Rescheduled', { exact: true }).waitFor()
    const { sendAt } = await host.notifier.notifications.get(id)
    expect(Date.parse(sendAt ?? '') - Date.parse(`${day}T12:00:00Z`)).toBeLessThan(86_400_000)
    expect(Date.parse(sendAt ?? '')).toBeGreaterThan(Date.now() + 8 * 86_400_000)
  })

  it('shows the message in a sandbox, as text and as source, to those with the grant', async () => {
    const { page, host } = suite
    const pixel = `${origin()}/pixel.png`
    const id = await send('ada@example.com', { body: undefined, html: html(pixel), text: 'Welcome as text' })
    const secret = await host.key('Read Only', { grants: ['content'] })
    await signIn(page, host, secret, `/notifications/${id}?tab=content`)
    const frame = page.frameLocator('iframe')
    await frame.getByRole('heading', { name: 'Welcome' }).waitFor()
    const color = await frame.locator('h1').evaluate(colorOf)
    expect(color).toBe('rgb(0, 128, 128)')
    expect(await frame.getByRole('link').count()).toBe(0)
    await page.getByText('Phone').click()
    await page.getByText('Dark', { exact: true }).last().click()
    await frame.getByRole('heading', { name: 'Welcome' }).waitFor()
    await assertAccessible(page)
    await page.getByRole('tab', { name: 'Preview' }).press('ArrowRight')
    await page.getByText('Welcome as text').waitFor()
    await page.getByRole('tab', { name: 'Text' }).press('End')
    await page.getByText('<script>document.body').waitFor()
    await assertAccessible(page)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ])
    expect(download.suggestedFilename()).toBe(`${id}.html`)
    expect(tracked).toBe(0)
  })

  it('tells who a mail is from, where answers go and what it carries', async () => {
    const { page, host } = suite
    const id = await send('ada@example.com', {
      email: {
        replyTo: 'Help <help@example.com>',
        cc: ['bob@example.com', 'Eve <eve@example.com>'],
        headers: { 'X-Order': '4711' },
        attachments: [
          {
            filename: 'bill.pdf',
            contentType: 'application/pdf',
            content: Buffer.alloc(9).toString('base64'),
          },
        ],
      },
    })
    const secret = await host.key('Read Only', { grants: ['content'] })
    await signIn(page, host, secret, `/notifications/${id}?tab=content`)
    await page.getByText('Help <help@example.com>').waitFor()
    await page.getByText('bob@example.com, Eve <eve@example.com>').waitFor()
    await page.getByText(/bill\.pdf application\/pdf, 9/).waitFor()
    await page.getByText('X-Order: 4711').waitFor()
    expect(await page.getByRole('tab', { name: 'Data' }).count()).toBe(0)
    await assertAccessible(page)
  })

  it('shows inline images', async () => {
    const { page, host } = suite
    const content = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"/>').toString(
      'base64',
    )
    const id = await send('ada@example.com', {
      body: undefined,
      html: '<p>Hello</p><img alt="Logo" src="cid:logo@1">',
      email: {
        attachments: [{ filename: 'logo.svg', contentType: 'image/svg+xml', cid: 'logo@1', content }],
      },
    })
    const secret = await host.key('Read Only', { grants: ['content'] })
    await signIn(page, host, secret, `/notifications/${id}?tab=content`)
    const image = page.frameLocator('iframe').getByRole('img', { name: 'Logo' })
    await image.waitFor()
    expect(await image.boundingBox()).toMatchObject({ width: 40, height: 30 })
  })

  it('hides the text of messages without the grant, and of sensitive ones from all', async () => {
    const { page, host } = suite
    const id = await send('ada@example.com')
    await signIn(page, host, await host.key('Full Access'), `/notifications/${id}?tab=content`)
    await page.getByText('Only keys with the grant “content”').waitFor()
    const secret = await send('ada@example.com', { sensitive: true })
    await page.goto(`${host.url}o/org_default/notifications/${secret}?tab=content`)
    await page.getByText('This message is sensitive.').waitFor()
    await assertAccessible(page)
  })

  it('says that there is none, and offers readers nothing that they may not do', async () => {
    const { page, host } = suite
    await signIn(page, host, await host.key('Read Only'), '/notifications/notif_1')
    await page.getByText('No notification has this id.').waitFor()
    const id = await send('bounce@example.com')
    await page.goto(`${host.url}o/org_default/notifications/${id}`)
    await page.getByRole('heading', { name: 'It was not delivered.' }).waitFor()
    expect(await page.getByRole('main').getByRole('button').count()).toBe(0)
  })
})
