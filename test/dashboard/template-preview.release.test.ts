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
      await page.getByRole('region', { name: 'Preview' }).getByLabel('Locale').selectOption('de')
      await shows('AcmeHallo')
      await page.getByText('Subject: Hallo').waitFor()
      await page.getByRole('region', { name: 'Preview' }).getByLabel('Locale').selectOption('')
      await page.getByRole('region', { name: 'Preview' }).getByLabel('Layout').selectOption('plain')
      await shows('PlainHello')
      await page.getByRole('region', { name: 'Preview' }).getByLabel('Layout').selectOption('None')
      await shows('Hello')
      await page.getByLabel('Recipient ID').fill('user:42')
      await shows('Hallo')
      await assertAccessible(page)
      await page.getByLabel('Recipient ID').fill('user:43')
      await page.getByText('The recipient "user:43" is unknown.').waitFor()
      expect(await page.getByLabel('Recipient ID').getAttribute('aria-invalid')).toBe('true')
    })

    it('begins with values of the right type, and says what is wrong with one at its field', async () => {
      const { page, host } = suite
      await host.notifier.messages.put('en', {
        items: '{count, plural, one {# item} other {# items}}',
        due: 'due on {due, date, long}',
      })
      const text = { html: '<p>{{name}}: {{@items}}, {{@due}}</p>', subject: 'Order' }
      const { id } = await host.notifier.templates.create({ name: 'order', channel: 'email', ...text })
      await signIn(page, host, await host.key('Read Only'), `/templates/${id}`)
      const body = page.frameLocator('iframe').locator('body')
      await expect.poll(() => body.textContent()).toMatch(/^name: 2 items, due on \w+ \d+, 20\d\d$/)
      expect(await page.locator('[aria-invalid]').count()).toBe(0)
      for (const [field, wrong, needs] of [
        ['count', 'many', '“count” needs a number.'],
        ['due', 'tomorrow', '“due” needs a date, such as 2026-12-24T18:00Z.'],
      ] as const) {
        const input = page.getByLabel(field, { exact: true })
        const right = await input.inputValue()
        await input.fill(wrong)
        await page.getByText(needs).waitFor()
        expect(await input.getAttribute('aria-invalid')).toBe('true')
        await assertAccessible(page)
        await input.fill(right)
        await page.getByText(needs).waitFor({ state: 'detached' })
      }
    })

    it('says what is wrong at no field of the page', async () => {
      const { page, host } = suite
      const { layouts, templates } = host.notifier
      await layouts.create({ name: 'named', text: '{{organization.name}}: {{content}}' })
      const draft = { name: 'nameless', channel: 'sms', text: 'Hi', layout: 'named' }
      const { id } = await templates.create(draft)
      await signIn(page, host, await host.key('Read Only'), `/templates/${id}`)
      await page.getByText('Name the organization with organizations.update()').waitFor()
    })
  },
)
