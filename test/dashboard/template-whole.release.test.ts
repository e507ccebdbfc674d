import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { assertAccessible } from '../support/dashboard/browser.ts'
import { signIn } from '../support/dashboard/sign-in.ts'
import { describeDashboard } from '../support/dashboard/suite.ts'

const accepted = { kind: 'accepted', providerMessageId: 'm1' } as const

describeDashboard(
  'whole templates',
  {
    notifier: {
      channels: {
        email: { name: 'mail', send: async () => accepted },
        sms: { name: 'text', send: async () => accepted },
      },
    },
  },
  (suite) => {
    let count = 0

    async function create(): Promise<{ id: string; name: string }> {
      count += 1
      const name = `whole-${count}`
      const { id } = await suite.host.notifier.templates.create({
        name,
        channel: 'email',
        subject: 'Hello',
        html: '<p>Hello</p>',
        text: 'Hello',
      })
      return { id, name }
    }

    async function open(id: string, permission?: 'Full Access'): Promise<Page> {
      const { page, host } = suite
      await signIn(page, host, await host.key(permission), `/templates/${id}`)
      await page.locator('.cm-editor').first().waitFor()
      return page
    }

    const html = (page: Page) => page.getByRole('textbox', { name: 'HTML' })
    const stored = (id: string) => suite.host.notifier.templates.get(id)
    const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true }).click()

    it('have a tab for each locale, which begins as a copy, is rendered, saved and removed', async () => {
      const { id } = await create()
      const page = await open(id)
      await page.getByRole('button', { name: 'Add locale' }).click()
      await page.getByLabel('New locale').fill('no locale')
      await page.keyboard.press('Enter')
      await page.getByText('This is not a locale').waitFor()
      await page.getByLabel('New locale').fill('de-at')
      await page.keyboard.press('Enter')
      const tab = page.getByRole('tab', { name: 'de-AT' })
      await expect.poll(() => tab.getAttribute('aria-selected')).toBe('true')
      await page.getByLabel('Subject').fill('Hallo')
      await html(page).fill('{{#if}}')
      await expect.poll(() => html(page).getAttribute('aria-invalid')).toBe('true')
      await html(page).fill('<p>Hallo</p>')
      await expect.poll(() => page.frameLocator('iframe').getByRole('paragraph').textContent()).toBe('Hallo')
      await assertAccessible(page)
      await save(page)
      await page.getByText('also in de-AT').waitFor()
      expect(await stored(id)).toMatchObject({
        html: '<p>Hello</p>',
        locales: { 'de-AT': { subject: 'Hallo', html: '<p>Hallo</p>', text: 'Hello' } },
      })
      await page.getByRole('tab', { name: 'Default' }).click()
      await expect.poll(() => page.getByLabel('Subject').inputValue()).toBe('Hello')
      await tab.click()
      await page.getByRole('button', { name: 'Remove de-AT' }).click()
      await save(page)
      await page.getByText('email, version 3').waitFor()
      expect(await stored(id)).toMatchObject({ subject: 'Hello', locales: {} })
    })

    it('take a layout and a category, and show what they look like at once', async () => {
      const { host } = suite
      await host.notifier.layouts.create({ name: 'frame', html: '<h1>Frame</h1>{{{content}}}' })
      await host.notifier.categories.create({ id: 'news', name: 'Newsletter' })
      const { id } = await create()
      const page = await open(id)
      const fields = page.locator('form.card')
      await fields.getByLabel('Layout').selectOption('frame')
      await page.frameLocator('iframe').getByRole('heading', { name: 'Frame' }).waitFor()
      await fields.getByLabel('Category').selectOption('news')
      await save(page)
      await page.getByText('layout frame').waitFor()
      expect(await stored(id)).toMatchObject({ layout: 'frame', category: 'news', version: 2 })
      await fields.getByLabel('Layout').selectOption('')
      await fields.getByLabel('Category').selectOption('')
      await save(page)
      await page.getByText('email, version 3').waitFor()
      expect(await stored(id)).toMatchObject({ layout: null, category: null })
    })

    it('are saved as a draft, which the list marks, edited as one, and published', async () => {
      const { host } = suite
      const { id, name } = await create()
      const page = await open(id)
      await html(page).fill('<p>Drafted</p>')
      await page.getByRole('button', { name: 'Save as draft' }).click()
      const notice = page.getByRole('region', { name: 'Draft' })
      await notice.getByText('You are editing the draft of version 1').waitFor()
      expect(await stored(id)).toMatchObject({ version: 1, html: '<p>Hello</p>' })
      await html(page).fill('<p>Better</p>')
      expect(await notice.getByRole('button', { name: 'Publish draft' }).isDisabled()).toBe(true)
      await page.getByRole('button', { name: 'Save draft' }).click()
      await expect.poll(async () => (await host.notifier.templates.draft(id)).html).toBe('<p>Better</p>')
      await assertAccessible(page)
      await page.getByRole('link', { name: 'Templates' }).first().click()
      await page.getByRole('row', { name }).getByRole('link', { name: 'Draft' }).click()
      await notice.getByText('You are editing the draft of version 1').waitFor()
      await expect.poll(() => html(page).locator('.cm-line').allTextContents()).toEqual(['<p>Better</p>'])

      // Another author changes the draft meanwhile.
      await html(page).fill('<p>Mine</p>')
      await host.notifier.templates.saveDraft(id, { subject: 'Theirs' })
      await page.getByRole('button', { name: 'Save draft' }).click()
      await page.getByText('Another edit of the draft was saved while you were editing').first().waitFor()
      await page.getByRole('button', { name: 'Save mine in the draft' }).click()
      await expect
        .poll(() => host.notifier.templates.draft(id))
        .toMatchObject({ subject: 'Theirs', html: '<p>Mine</p>' })
      await notice.getByRole('button', { name: 'Publish draft' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Publish draft' }).click()
      await page.getByText('email, version 2').waitFor()
      await notice.waitFor({ state: 'detached' })
      expect(await stored(id)).toMatchObject({ subject: 'Theirs', html: '<p>Mine</p>' })
      await page.getByRole('row', { name: /^2 Current .* Test/ }).waitFor()
    })

    it('are checked beside the editor', async () => {
      const { id } = await create()
      const page = await open(id)
      const checks = page.getByRole('region', { name: 'Checks' })
      await checks.getByText('No problems found.').waitFor()
      await html(page).fill('<p>Hello</p>\n<a href="http://a.example">Go</a>')
      await checks.getByText('HTML, line 2').waitFor()
      await checks.getByText('Warning').first().waitFor()
      await assertAccessible(page)
      await html(page).fill('<p>Hello</p>')
      await checks.getByText('No problems found.').waitFor()
    })

    it('of a channel without HTML are edited as text', async () => {
      const { page, host } = suite
      await host.notifier.templates.create({ name: 'code', channel: 'sms', text: 'Your code: <b>' })
      await signIn(page, host, await host.key(), '/templates/code')
      await page.locator('.code.text .cm-editor').waitFor()
      expect(await page.locator('.cm-lineNumbers').count()).toBe(0)
      expect(await page.getByRole('textbox', { name: 'Text' }).getAttribute('spellcheck')).toBe('true')
    })
  },
)
