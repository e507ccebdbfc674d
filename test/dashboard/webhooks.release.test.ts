import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { assertAccessible } from '../support/dashboard/browser.ts'
import { signIn } from '../support/dashboard/sign-in.ts'
import { describeDashboard } from '../support/dashboard/suite.ts'

interface Arrived {
  readonly headers: Record<string, string>
  readonly body: string
}

describeDashboard(
  'the pages of webhooks',
  { notifier: { webhooks: { allow: ['127.0.0.1/32'], allowHttp: true } } },
  (suite) => {
    const arrived: Arrived[] = []
    let receiver: Server
    let status = 200
    beforeAll(async () => {
      receiver = createServer(async (request, response) => {
        arrived.push({ headers: request.headers as Record<string, string>, body: await text(request) })
        response.writeHead(status).end('<img src=x onerror=alert(1)>')
      })
      await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    })
    afterAll(() => receiver.close())
    const url = () => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/events`

    it('adds an endpoint and shows its test event and later deliveries', async () => {
      const { page, host } = suite
      await signIn(page, host, await host.key(), '/webhooks')
      await page.getByRole('button', { name: 'Add endpoint' }).first().click()
      await page.getByLabel('Address').fill(url())
      await assertAccessible(page)
      await page.getByRole('button', { name: 'Create', exact: true }).click()
      const secret = await page.getByLabel('Signing secret', { exact: true }).inputValue()
      await page.getByRole('button', { name: 'Done' }).click()
      await page.getByRole('heading', { level: 1, name: url() }).waitFor()
      await page.getByRole('button', { name: 'Send test event' }).click()
      await page.getByText('The endpoint answered 200.').waitFor()
      await page.getByRole('row', { name: /^Test event Delivered 1 / }).waitFor()
      await page.getByRole('button', { name: 'Test event', exact: true }).click()
      const tested = page.getByRole('dialog', { name: 'Test event' })
      await tested.getByText('200', { exact: true }).waitFor()
      await tested.getByText('Attempt 1').click()
      await tested.getByText(`POST ${url()}`).waitFor()
      expect(await tested.getByRole('button', { name: 'Send again' }).count()).toBe(0)
      await assertAccessible(page)
      await page.keyboard.press('Escape')
      const event = arrived[0] as Arrived
      expect(new Webhook(secret).verify(event.body, event.headers)).toMatchObject({
        event: 'webhook.test',
      })

      status = 500
      await host.notifier.send({ channel: 'email', to: 'ada@example.com', subject: 'Hi', body: 'Hi' })
      await page.getByRole('button', { name: '1 new' }).click()
      await page.getByRole('row', { name: /notification.sent Retrying next at .*\d/ }).waitFor()
      await page.getByRole('link', { name: 'Webhooks', exact: true }).click()
      await page.getByRole('row', { name: /Failing 500 / }).waitFor()
      await assertAccessible(page)
      await page.goBack()
      await page.getByRole('button', { name: 'notification.sent' }).click()
      // The receiver may have refused a second attempt meanwhile.
      await page.getByText('<img src=x onerror=alert(1)>').first().waitFor()
      await page.getByText('Body', { exact: true }).click()
      await page.getByText('"event": "notification.sent"').waitFor()
      await assertAccessible(page)
      status = 200
      await page.getByRole('button', { name: 'Send again' }).click()
      await page.getByRole('row', { name: /notification.sent Delivered/ }).waitFor()
      await page.getByLabel('Status').selectOption('failed')
      await page.getByText('Nothing matches these filters').waitFor()
      expect(page.url()).toContain('status=failed')
      await page.reload()
      expect(await page.getByLabel('Status').inputValue()).toBe('failed')
    })

    it('edits, disables, enables, rotates and deletes', async () => {
      const { page, host } = suite
      const { id } = await host.notifier.webhooks.create({ url: url() })
      await signIn(page, host, await host.key(), `/webhooks/${id}`)
      const stored = () => host.notifier.webhooks.get(id)
      await page.getByRole('button', { name: 'Edit' }).click()
      await page.getByLabel('notification.clicked').uncheck()
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('The endpoint was saved.').waitFor()
      expect((await stored()).events).not.toContain('notification.clicked')
      await page.getByRole('button', { name: 'Disable' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
      await page.getByText('The endpoint was disabled manually.').waitFor()
      expect((await stored()).status).toBe('disabled')
      await page.getByRole('button', { name: 'Enable' }).click()
      await page.getByText('The endpoint is enabled.').waitFor()
      await page.getByRole('button', { name: 'Rotate secret' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
      expect(await page.getByLabel('Signing secret', { exact: true }).inputValue()).toMatch(/^whsec_/)
      await page.getByRole('button', { name: 'Done' }).click()
      await page.getByRole('button', { name: 'Redeliver' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Redeliver' }).click()
      await page.getByText('0 events are being sent again.').waitFor()
      await page.getByRole('button', { name: 'Delete' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
      await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
      await expect(stored()).rejects.toMatchObject({ code: 'not_found' })
    })

    it('says beside the address why it is refused', async () => {
      const { page, host } = suite
      await signIn(page, host, await host.key(), '/webhooks')
      await page.getByRole('button', { name: 'Add endpoint' }).first().click()
      await page.getByLabel('Address').fill('ftp://example.com')
      await page.getByRole('button', { name: 'Create', exact: true }).click()
      const described = page.getByLabel('Address')
      await expect.poll(() => described.getAttribute('aria-invalid')).toBe('true')
    })

    it('offers a key without the permission nothing that it may not do', async () => {
      const { page, host } = suite
      const { id } = await host.notifier.webhooks.create({ url: url() })
      await signIn(page, host, await host.key('Write'), `/webhooks/${id}`)
      await page.getByRole('heading', { level: 1, name: url() }).waitFor()
      expect(await page.getByRole('main').getByRole('button').count()).toBe(0)
    })
  },
)
