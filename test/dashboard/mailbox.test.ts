import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, FrameLocator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { type DevMailbox, devMailbox } from '../../adapters/dev-mailbox/index.ts'
import { notifierHandler } from '../../adapters/http/node.ts'
import { createNotifier, type Notifier } from '../../src/index.ts'
import {
  assertAccessible,
  CHROMIUM,
  sharedBrowser,
  type WatchOptions,
  watch,
} from '../support/dashboard/browser.ts'
import { listen, portOf } from '../support/dashboard/mounts.ts'
import { inMemory } from '../support/in-memory.ts'
import { describeWith } from '../support/left-out.ts'

const HOSTILE = `<img src=x onerror="alert(1)"><script>alert(2)</script>"'`
const PIXEL = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'

/** In the browser, whose types the tests lack. */
function styleOf(element: unknown): readonly string[] {
  const page = globalThis as unknown as {
    getComputedStyle(of: unknown): { readonly color: string; readonly fontSize: string }
  }
  const { color, fontSize } = page.getComputedStyle(element)
  return [color, fontSize]
}

const widthOf = (image: unknown): number => (image as { readonly naturalWidth: number }).naturalWidth

describeWith(CHROMIUM === null ? 'no Chromium on this machine' : null, 'the mailbox in a browser', () => {
  let browser: Browser
  let mailbox: DevMailbox
  let notifier: Notifier
  beforeAll(async () => {
    browser = await sharedBrowser()
    mailbox = devMailbox()
    notifier = createNotifier({ storage: inMemory(), channels: mailbox.channels }) as Notifier
    await notifier.start()
  })
  afterAll(async () => {
    await notifier.stop()
  })

  async function send(message: object): Promise<void> {
    const { id } = await notifier.send(message as never)
    await notifier.waitFor(id)
  }

  /** Opens a path of the mailbox, mounted below `/dev/mail`. */
  async function open(path = '', options: WatchOptions = {}): Promise<Page> {
    const server = await listen(notifierHandler(mailbox, { prefix: '/dev/mail' }))
    const origin = `http://127.0.0.1:${portOf(server)}`
    const { page, assertClean, close } = await watch(browser, origin, options)
    onTestFinished(async () => {
      await close()
      assertClean()
    })
    page.on('dialog', (dialog) => {
      throw new Error(`A script has run: ${dialog.message()}`)
    })
    await page.goto(`${origin}/dev/mail${path}`)
    return page
  }

  const frame = (page: Page): FrameLocator => page.frameLocator('iframe')

  it('lists what was sent, as it is sent, and shows one message', async () => {
    mailbox.clear()
    const page = await open()
    await page.getByText('No messages yet').waitFor()
    await assertAccessible(page)
    await send({ channel: 'sms', to: '+436601234567', text: 'Your code is 123' })
    const row = page.getByRole('row', { name: /Your code is 123/ })
    await row.waitFor()
    await send({ channel: 'email', to: 'ada@example.com', subject: 'Welcome', text: 'Hello' })
    await page.getByRole('button', { name: '1 new' }).click()
    await page.getByRole('row', { name: /Welcome/ }).waitFor()
    await page.getByLabel('Search').fill('+4366')
    await expect.poll(() => page.getByRole('row', { name: /Welcome/ }).count()).toBe(0)
    await page.getByRole('link', { name: 'Your code is 123' }).click()
    await page.getByRole('tab', { name: 'Data' }).click()
    await page.getByText('"segments": 1').waitFor()
    await assertAccessible(page)
    await page.goBack()
    await row.waitFor()
    await page.getByRole('button', { name: 'Clear mailbox' }).click()
    await expect.poll(() => mailbox.messages()).toEqual([])
  })

  it('shows HTML in a sandbox: with its styles and images, without scripts and the network', async () => {
    mailbox.clear()
    const asked: string[] = []
    const stranger = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.end()
    })
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void stranger.close())
    const remote = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`
    const html = `<style>h1 { color: rgb(1, 2, 3) }</style><h1 style="font-size: 33px">Hi</h1>
<script>document.title = 'run'; top.location = '${remote}/script'</script><img id="remote" src="${remote}/pixel">
<img id="own" src="cid:logo" width="9"><a href="${remote}/login?a=1&amp;b=2">Sign in</a>`
    await send({
      channel: 'email',
      to: 'ada@example.com',
      subject: 'Styled',
      html,
      email: {
        from: 'Shop <shop@example.com>',
        attachments: [
          { filename: 'logo.gif', contentType: 'image/gif', content: PIXEL, cid: 'logo' },
          {
            filename: 'terms.txt',
            contentType: 'text/plain',
            content: Buffer.from('Terms').toString('base64'),
          },
        ],
      },
    })
    const page = await open('/')
    await page.getByRole('link', { name: 'Styled' }).click()
    const heading = frame(page).getByRole('heading', { name: 'Hi' })
    await heading.waitFor()
    const style = await heading.evaluate(styleOf)
    expect(style).toEqual(['rgb(1, 2, 3)', '33px'])
    const loaded = (id: string) => frame(page).locator(`#${id}`).evaluate(widthOf)
    expect([await loaded('own'), await loaded('remote')]).toEqual([1, 0])
    expect(await frame(page).locator('a[href]').count()).toBe(0)
    await page.getByText('Phone').click()
    expect(await page.locator('iframe').evaluate((element) => element.clientWidth)).toBe(322)
    await page.getByText('Dark').click()
    await frame(page).locator('meta[content=dark]').waitFor({ state: 'attached' })
    await assertAccessible(page)

    await page.getByRole('tab', { name: 'Text' }).click()
    await page.getByText('Sign in').waitFor()
    await page.getByRole('tab', { name: 'Links' }).click()
    const link = page.getByRole('link', { name: `${remote}/login?a=1&b=2` })
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer')
    await page.getByRole('tab', { name: 'Mail source' }).click()
    await page.getByText('From: Shop <shop@example.com>').waitFor()
    await page.getByRole('tab', { name: 'Files' }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: /terms\.txt/ }).click(),
    ])
    expect(download.suggestedFilename()).toBe('terms.txt')
    expect(asked).toEqual([])
  })

  it('filters by channel, and leads to the next and previous message of the filtered list', async () => {
    mailbox.clear()
    await send({
      channel: 'email',
      to: 'ada@example.com',
      subject: 'First',
      text: 'Read https://example.com/1',
    })
    await send({ channel: 'sms', to: '+436601234567', text: 'Between' })
    await send({
      channel: 'email',
      to: 'ada@example.com',
      subject: 'Second',
      text: 'Read https://example.com/2',
    })
    const page = await open()
    await page.getByLabel('Channel').selectOption('email')
    await expect.poll(() => page.getByRole('row', { name: /Between/ }).count()).toBe(0)
    await page.getByRole('link', { name: 'Second' }).click()
    await page.getByText('1 of 2').waitFor()
    expect(await page.getByRole('button', { name: 'Newer message' }).isDisabled()).toBe(true)
    await page.getByRole('tab', { name: 'Links' }).click()
    await page.getByRole('link', { name: 'Older message' }).click()
    await page.getByRole('heading', { level: 1, name: 'First' }).waitFor()
    await page.getByRole('link', { name: 'https://example.com/1' }).waitFor()
    await send({ channel: 'email', to: 'ada@example.com', subject: 'Third', text: 'Hi' })
    await page.getByText('3 of 3').waitFor()
    await page.getByRole('link', { name: 'Newer message' }).click()
    await page.getByRole('heading', { level: 1, name: 'Second' }).waitFor()
    await page.getByRole('link', { name: 'All messages' }).click()
    await page.getByRole('link', { name: 'Third' }).waitFor()
    expect(await page.getByRole('row', { name: /Between/ }).count()).toBe(0)
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('row', { name: /Between/ }).waitFor()
  })

  it.each(['light', 'dark'] as const)(
    'shows the head, the warnings and every tab on a phone (%s)',
    async (scheme) => {
      mailbox.clear()
      await send({
        channel: 'email',
        to: 'ada@example.com',
        subject: 'Order 4711',
        html: '<p>Shipped. <a href="http://example.com/4711">Track it</a></p>',
        email: {
          from: 'Shop <shop@example.com>',
          cc: ['Charles <charles@example.com>'],
          replyTo: ['help@example.com'],
          attachments: [{ filename: 'a.txt', contentType: 'text/plain', content: 'SGk=' }],
        },
      })
      const page = await open('', { width: 390, scheme })
      await assertAccessible(page)
      await page.getByRole('link', { name: 'Order 4711' }).click()
      for (const shown of ['Shop <shop@example.com>', 'Charles <charles@example.com>', 'help@example.com'])
        await page.getByRole('definition').filter({ hasText: shown }).waitFor()
      const tabs = await page.getByRole('tab').all()
      expect(tabs).toHaveLength(8)
      for (const tab of tabs) {
        const name = String(await tab.textContent())
        const { x = -1, width = 0 } = (await tab.boundingBox()) ?? {}
        expect(x, name).toBeGreaterThanOrEqual(0)
        expect(x + width, name).toBeLessThanOrEqual(390)
      }
      await page.getByRole('tab', { name: 'Warnings (2)' }).click()
      await page.getByText('<a href="http://example.com/4711">').waitFor()
      await page.getByText('The HTML has no text alternative').waitFor()
      await assertAccessible(page)
      expect(await page.locator('body').evaluate((body) => body.scrollWidth)).toBe(390)
    },
  )

  it('shows hostile fields as text', async () => {
    mailbox.clear()
    const { channels } = mailbox
    const controller = new AbortController()
    const attachments = [
      { filename: `${HOSTILE}.html`, contentType: 'text/html', content: Buffer.from(HOSTILE) },
    ]
    // Past the notifier, which refuses such an address.
    await channels.email.send(
      {
        to: HOSTILE,
        subject: HOSTILE,
        body: `${HOSTILE}<a href="javascript:alert(3)">x</a>`,
        format: 'html',
        email: { attachments },
      },
      {
        notificationId: HOSTILE,
        organizationId: HOSTILE,
        idempotencyKey: 'k',
        signal: controller.signal,
      } as never,
    )
    const page = await open('/')
    await page.getByRole('link', { name: HOSTILE }).click()
    await page.getByRole('heading', { level: 1, name: HOSTILE }).waitFor()
    for (const tab of ['Text', 'Source', 'Data', 'Files', 'Preview']) {
      await page.getByRole('tab', { name: tab, exact: true }).click()
      expect(await page.locator('img, script:not([nonce])').count(), tab).toBe(0)
    }
    expect(await page.getByRole('tab', { name: 'Links' }).count()).toBe(0)
  })
})
