import { expect, it } from 'vitest'
import { assertAccessible } from '../support/dashboard/browser.ts'
import { signIn } from '../support/dashboard/sign-in.ts'
import { describeDashboard } from '../support/dashboard/suite.ts'

const accepted = { kind: 'accepted', providerMessageId: 'm1' } as const
const HOSTILE = '<img src=x onerror=alert(1)>'

describeDashboard(
  'the pages of templates',
  {
    notifier: {
      channels: {
        email: { name: 'mail', send: async () => accepted },
        sms: { name: 'text', send: async () => accepted },
      },
    },
  },
  (suite) => {
    it('creates a template beside its preview, and finds it in the list', async () => {
      const { page, host } = suite
      await signIn(page, host, await host.key(), '/templates')
      await page.getByText('No templates yet').waitFor()
      await assertAccessible(page)
      await page.getByRole('link', { name: 'New template' }).first().click()
      await page.getByRole('heading', { level: 1, name: 'New template' }).waitFor()
      expect(await page.getByLabel('Channel').locator('option').allTextContents()).toEqual(['email', 'sms'])
      await page.getByLabel('Name', { exact: true }).fill('welcome email')
      await page.getByLabel('Subject').fill('Hello {{name}}')
      const editor = page.getByRole('textbox', { name: 'HTML' })
      await page.locator('.cm-editor').first().waitFor()
      await editor.pressSequentially('<h1>Hi {{name}}</h1>')
      await page.getByText('Subject: Hello name').waitFor()
      const shown = page.frameLocator('iframe').getByRole('heading')
      await expect.poll(() => shown.textContent()).toBe('Hi name')
      await page.getByLabel('name', { exact: true }).fill('<Ada>')
      await expect.poll(() => shown.textContent()).toBe('Hi <Ada>')
      await page.getByRole('tab', { name: 'Source' }).click()
      await page.getByText('<h1>Hi &lt;Ada&gt;</h1>').waitFor()
      await assertAccessible(page)

      await page.getByRole('button', { name: 'Create' }).click()
      await expect
        .poll(() => page.getByLabel('Name', { exact: true }).getAttribute('aria-invalid'))
        .toBe('true')
      await page.getByLabel('Name', { exact: true }).fill('welcome-email')
      await page.getByRole('button', { name: 'Create' }).click()
      await page.getByRole('heading', { level: 1, name: 'welcome-email' }).waitFor()
      expect(await host.notifier.templates.get('welcome-email')).toMatchObject({
        channel: 'email',
        subject: 'Hello {{name}}',
        html: '<h1>Hi {{name}}</h1>',
        text: null,
        description: null,
      })
      await page.goBack()
      await page.getByLabel('Search by name').fill('none such')
      await page.getByText('Nothing matches these filters').waitFor()
      await page.getByLabel('Search by name').fill('welcome')
      await expect.poll(() => page.url()).toContain('search=welcome')
      await page.reload()
      await page.getByRole('row', { name: /welcome-email.*email/ }).waitFor()
      expect(await page.getByLabel('Search by name').inputValue()).toBe('welcome')
      await page.getByRole('button', { name: 'Delete: welcome-email' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
      await page.getByText('The template was deleted.').waitFor()
      await expect(host.notifier.templates.get('welcome-email')).rejects.toMatchObject({
        code: 'template_not_found',
      })
    })

    it('says beside each field what keeps it from being rendered', async () => {
      const { page, host } = suite
      await signIn(page, host, await host.key(), '/templates/new')
      await page.locator('.cm-editor').first().waitFor()
      const editor = page.getByRole('textbox', { name: 'HTML' })
      await editor.fill('{{#if paid}}<b>{{name}}</b>{{/if}}')
      await page.getByText(/Carillon has no helpers/).waitFor()
      expect(await editor.getAttribute('aria-invalid')).toBe('true')
      await assertAccessible(page)
      await editor.fill('{{#items}}<b>{{title}}</b>{{/items}} for {{user.name}}')
      await page.getByLabel('user.name').fill('')
      await page.getByText('“user.name” needs text.').waitFor()
      await page.getByText('This is the last text that could be rendered.').waitFor()
      await page.getByLabel('user.name').fill('Ada')
      const items = page.getByLabel('Section items (JSON)')
      await items.fill('[{"title": ')
      await page.getByText(/The value of “items” is not JSON/).waitFor()
      await items.fill('[{"title": "One"}, {"title": "Two"}]')
      const frame = page.frameLocator('iframe').locator('body')
      await expect.poll(() => frame.textContent()).toBe('OneTwo for Ada')
      await page.getByRole('button', { name: 'Discard changes' }).click()
    })

    it('tells the segments of a text message', async () => {
      const { page, host } = suite
      await signIn(page, host, await host.key(), '/templates/new')
      await page.getByLabel('Channel').selectOption('sms')
      await page.locator('.cm-editor').first().waitFor()
      expect(await page.getByLabel('Subject').count()).toBe(0)
      expect(await page.getByRole('textbox', { name: 'HTML' }).count()).toBe(0)
      await page.getByRole('textbox', { name: 'Text' }).fill('Ihr Code ist {{code}} ✓')
      await page.getByText('1 segment, 19 characters (UCS-2)').waitFor()
      await page.getByLabel('code', { exact: true }).fill('x'.repeat(70))
      await page.getByText(/^2 segments, 85 characters/).waitFor()
      await page.getByRole('button', { name: 'Discard changes' }).click()
    })

    it('lets the keyboard leave the editor, and labels it', async () => {
      const { page, host } = suite
      await signIn(page, host, await host.key(), '/templates/new')
      await page.locator('.cm-editor').nth(1).waitFor()
      await page.getByRole('textbox', { name: 'HTML' }).focus()
      await page.keyboard.press('Tab')
      const focused = () => page.locator(':focus').getAttribute('aria-label')
      expect(await focused()).toBe('Text')
      await page.keyboard.press('Shift+Tab')
      expect(await focused()).toBe('HTML')
      await page.keyboard.press('Control+f')
      await page.getByRole('textbox', { name: 'Find' }).waitFor()
      await assertAccessible(page)
    })

    it('renders one draft at a time, and the last one in the end', async () => {
      const { page, host } = suite
      let running = 0
      let most = 0
      let asked = 0
      await page.route('**/v1/template-previews', async (route) => {
        running += 1
        asked += 1
        most = Math.max(most, running)
        await new Promise((resolve) => setTimeout(resolve, 1_000))
        running -= 1
        await route.continue()
      })
      await signIn(page, host, await host.key(), '/templates/new')
      await page.locator('.cm-editor').first().waitFor()
      for (const text of ['One', 'Two', 'Three', 'Four']) {
        await page.getByRole('textbox', { name: 'HTML' }).fill(`<p>${text}</p>`)
        await page.waitForTimeout(500)
      }
      await expect.poll(() => page.frameLocator('iframe').locator('body').textContent()).toBe('Four')
      expect(most).toBe(1)
      expect(asked).toBeLessThan(5)
      await page.getByRole('button', { name: 'Discard changes' }).click()
    })

    it('shows hostile content of every field as text', async () => {
      const { page, host } = suite
      const { id } = await host.notifier.templates.create({
        name: 'hostile',
        channel: 'email',
        subject: HOSTILE,
        html: `${HOSTILE}<script>alert(1)</script><p>{{a<b>}}</p>`,
        text: HOSTILE,
        description: HOSTILE,
      })
      await host.notifier.templates.update(id, { text: `${HOSTILE} again` })
      const alerts: string[] = []
      page.on('dialog', (dialog) => void alerts.push(dialog.message()))
      await signIn(page, host, await host.key(), '/templates')
      await page.getByText(HOSTILE).waitFor()
      await page.getByRole('link', { name: 'hostile' }).click()
      await page.getByText(`Subject: ${HOSTILE}`).waitFor()
      await page.frameLocator('iframe').getByText('a<b>').waitFor()
      await page.getByRole('tab', { name: 'Text' }).click()
      await page.getByRole('tabpanel').getByText(HOSTILE).waitFor()
      await page.getByRole('button', { name: 'Compare: 1' }).click()
      await page.getByRole('dialog').getByText(`+ ${HOSTILE} again`).waitFor()
      expect(alerts).toEqual([])
      expect(await page.locator('img').count()).toBe(0)
    })

    it('offers each permission what it may do', async () => {
      const { page, host, browser } = suite
      const { id } = await host.notifier.templates.create({
        name: 'seen',
        channel: 'sms',
        text: 'Hi {{name}}',
      })
      await signIn(page, host, await host.key('Read Only'), `/templates/${id}`)
      await page.locator('.cm-editor').waitFor()
      await page.getByText('Hi name').waitFor()
      for (const name of ['Save', 'Send test', 'Restore'])
        expect(await page.getByRole('button', { name }).count()).toBe(0)
      await page.getByRole('textbox', { name: 'Text' }).pressSequentially('x')
      expect(await page.getByRole('textbox', { name: 'Text' }).textContent()).toBe('Hi {{name}}')
      expect(await page.getByLabel('Description').isEditable()).toBe(false)
      await page.getByRole('link', { name: 'Templates' }).click()
      await page.getByRole('row', { name: /seen/ }).waitFor()
      expect(await page.getByRole('link', { name: 'New template' }).count()).toBe(0)
      expect(await page.getByRole('button', { name: /^Delete/ }).count()).toBe(0)
      await page.goto(`${host.url}o/org_default/templates/new`)
      await page.getByText('This needs a key with Write permission.').waitFor()

      const writer = await browser.newPage()
      await signIn(writer, host, await host.key('Write'), '/templates')
      await writer.getByRole('row', { name: /seen/ }).waitFor()
      expect(await writer.getByRole('button', { name: /^Delete/ }).count()).toBe(0)
      await writer.close()
    })
  },
)
