import { expect, it } from 'vitest'
import { assertAccessible } from '../support/dashboard/browser.ts'
import { signIn } from '../support/dashboard/sign-in.ts'
import { describeDashboard } from '../support/dashboard/suite.ts'

const people = new Map([['user:42', { channels: {}, locale: 'de-AT' }]])

describeDashboard(
  'the preview of a template',
  { notifier: { recipients: { resolve: () => people } } },
  (suite) => {
    it('is shown in a locale, in a layout and for a reader', async () => {
      const { page, host } = suite
      const { layouts, templates } = host.notifier
      await layouts.create({ name: 'brand', html: '<header>Acme</header>{{{content}}}', text: '{{content}}' })
      await layouts.create({ name: 'plain', html: '<i>Plain</i>{{{content}}}', text: '{{content}}' })
      const { id } = await templates.create({
        name: 'greeting',
        channel: 'email',
        subject: 'Hello',
        html: '<h1>Hello</h1>',
        layout: 'brand',
        locale: 'en',
        locales: { de: { subject: 'Hallo', html: '<h1>Hallo</h1>' } },
      })
      await signIn(page, host, await host.key('Read Only'), `/templates/${id}`)
      await page.getByText('email, version 1, layout brand, in en, also in de').waitFor()
      const body = page.frameLocator('iframe').locator('body')
      const shows = (text: string) => expect.poll(() => body.textContent(), { timeout: 30_000 }).toBe(text)
      await shows('AcmeHello')
      await page.getByLabel('Locale').selectOption('de')
      await shows('AcmeHallo')
      await page.getByText('Subject: Hallo').waitFor()
      await page.getByLabel('Locale').selectOption('')
      await page.getByLabel('Layout').selectOption('plain')
      await shows('PlainHello')
      await page.getByLabel('Layout').selectOption('None')
      await shows('Hello')
      await page.getByLabel('Reader').fill('user:42')
      await shows('Hallo')
      await assertAccessible(page)
      await page.getByLabel('Reader').fill('user:43')
      await page.getByText('The recipient "user:43" is unknown.').waitFor()
      expect(await page.getByLabel('Reader').getAttribute('aria-invalid')).toBe('true')
    })
  },
)
