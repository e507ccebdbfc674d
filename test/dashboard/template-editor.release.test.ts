import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { assertAccessible } from '../support/dashboard/browser.ts'
import { signIn } from '../support/dashboard/sign-in.ts'
import { describeDashboard } from '../support/dashboard/suite.ts'

describeDashboard('the editor of templates', {}, (suite) => {
  let count = 0

  /** A template of its own, and the address of its page. */
  async function create(): Promise<{ id: string; path: string }> {
    count += 1
    const { id } = await suite.host.notifier.templates.create({
      name: `editor-${count}`,
      channel: 'email',
      subject: 'Hello',
      html: '<p>One</p>\n<p>Two</p>\n<p>{{name}}</p>',
    })
    return { id, path: `/templates/${id}` }
  }

  const html = (page: Page) => page.getByRole('textbox', { name: 'HTML' })
  const lines = (page: Page) => html(page).locator('.cm-line').allTextContents()
  const stored = (id: string) => suite.host.notifier.templates.get(id)

  async function open(path: string): Promise<void> {
    const { page, host } = suite
    await signIn(page, host, await host.key(), path)
    await page.locator('.cm-editor').first().waitFor()
  }

  it('saves what was changed alone', async () => {
    const { page } = suite
    const { id, path } = await create()
    await open(path)
    const save = page.getByRole('button', { name: 'Save', exact: true })
    expect(await save.isDisabled()).toBe(true)
    await page.getByLabel('Description').fill('Of a test')
    await save.click()
    await page.getByText('The template was saved.').waitFor()
    expect(await stored(id)).toMatchObject({ version: 1, description: 'Of a test' })
    await html(page).fill('<p>New</p>')
    await page.getByLabel('Subject').fill('')
    await save.click()
    await page.getByText('email, version 2').waitFor()
    expect(await stored(id)).toMatchObject({ version: 2, html: '<p>New</p>', subject: null })
    await page.getByRole('row', { name: /^2 Current/ }).waitFor()
  })

  it('shows a draft, which is edited and published, also over a version that was saved since', async () => {
    const { page, host } = suite
    const { id, path } = await create()
    await host.notifier.templates.saveDraft(id, { html: '<p>Drafted</p>' })
    await open(path)
    const draft = page.getByRole('region', { name: 'Draft' })
    await draft.getByText('Version 1 has an unpublished draft.').waitFor()
    await draft.getByRole('button', { name: 'Compare' }).click()
    await page.getByRole('dialog').getByText('+ <p>Drafted</p>').waitFor()
    await assertAccessible(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
    await draft.getByRole('button', { name: 'Edit draft' }).click()
    await expect.poll(() => lines(page)).toEqual(['<p>Drafted</p>'])
    await draft.getByRole('button', { name: 'Show version 1' }).click()
    await expect.poll(() => lines(page)).toEqual(['<p>One</p>', '<p>Two</p>', '<p>{{name}}</p>'])
    await html(page).fill('<p>Saved</p>')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await draft.getByText('Version 2 has been saved since. Publishing the draft replaces it.').waitFor()
    await draft.getByRole('button', { name: 'Publish draft' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Publish draft' }).click()
    await page.getByText('email, version 3').waitFor()
    await draft.waitFor({ state: 'detached' })
    expect(await stored(id)).toMatchObject({ version: 3, html: '<p>Drafted</p>' })
    await expect.poll(() => lines(page)).toEqual(['<p>Drafted</p>'])
  })

  it('says beside the field why the server refuses it, and keeps what was typed', async () => {
    const { page } = suite
    const other = await create()
    const { path } = await create()
    await open(path)
    await page.getByLabel('Name', { exact: true }).fill((await stored(other.id)).name)
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText(/A template named .* exists/).waitFor()
    expect(await page.getByLabel('Name', { exact: true }).getAttribute('aria-invalid')).toBe('true')
    await page.getByLabel('Name', { exact: true }).fill('editor-free')
    await html(page).fill('')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText(/without it the template has no text/).waitFor()
    expect(await html(page).getAttribute('aria-invalid')).toBe('true')
    await page.getByRole('button', { name: 'Discard changes' }).click()
    await expect.poll(() => lines(page)).toEqual(['<p>One</p>', '<p>Two</p>', '<p>{{name}}</p>'])
  })

  it('shows a version that was saved meanwhile, and saves onto it', async () => {
    const { page, host } = suite
    const { id, path } = await create()
    await open(path)
    await page.getByLabel('Subject').fill('Mine')
    await host.notifier.templates.update(id, { html: '<p>Theirs</p>' })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Version 2 was saved while you were editing').waitFor()
    await dialog.getByText('- Hello').waitFor()
    await dialog.getByText('+ Mine').waitFor()
    await assertAccessible(page)
    await dialog.getByRole('button', { name: 'Keep editing' }).click()
    expect(await page.getByLabel('Subject').inputValue()).toBe('Mine')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await dialog.getByRole('button', { name: 'Save mine as a new version' }).click()
    await page.getByText('email, version 3').waitFor()
    expect(await stored(id)).toMatchObject({ version: 3, subject: 'Mine', html: '<p>Theirs</p>' })
  })

  it('tells of a newer version before it is saved, and takes it over where the author wants it', async () => {
    const { page, host } = suite
    const { id, path } = await create()
    await open(path)
    await html(page).fill('<p>Mine</p>')
    await host.notifier.templates.update(id, { html: '<p>Theirs</p>' })
    await page.getByText('Version 2 was saved while you were editing.').waitFor()
    await page.getByRole('button', { name: 'Compare', exact: true }).click()
    await page.getByRole('dialog').getByText('- <p>Theirs</p>').waitFor()
    await page.getByRole('button', { name: 'Use version 2, discard mine' }).click()
    await expect.poll(() => lines(page)).toEqual(['<p>Theirs</p>'])
    expect(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true)
    await host.notifier.templates.update(id, { html: '<p>Later</p>' })
    await expect.poll(() => lines(page)).toEqual(['<p>Later</p>'])
  })

  it('keeps unsaved edits over a link, a reload and an ended session', async () => {
    const { page, host } = suite
    const { id, path } = await create()
    const first = await host.notifier.apiKeys.create({ name: 'Ends', permission: 'Write' })
    await signIn(page, host, first.secret, path)
    await page.locator('.cm-editor').first().waitFor()
    await html(page).fill('<p>Unsaved</p>')
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByText('Leave without saving?').waitFor()
    await page.getByRole('button', { name: 'Keep editing' }).click()
    expect(await lines(page)).toEqual(['<p>Unsaved</p>'])

    page.once('dialog', (dialog) => void dialog.accept().catch(() => {}))
    await page.reload()
    await page.getByText('Unsaved changes from an earlier visit were restored.').waitFor()
    await expect.poll(() => lines(page)).toEqual(['<p>Unsaved</p>'])

    await host.notifier.apiKeys.delete(first.id)
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Your session has ended').waitFor()
    await page.getByLabel('API key').fill(await host.key())
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('The template was saved.').waitFor()
    expect(await stored(id)).toMatchObject({ version: 2, html: '<p>Unsaved</p>' })

    await html(page).fill('<p>Thrown away</p>')
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByRole('button', { name: 'Leave' }).click()
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor()
    await page.goBack()
    await expect.poll(() => lines(page)).toEqual(['<p>Unsaved</p>'])
  })

  it('compares and restores versions', async () => {
    const { page, host } = suite
    const { id, path } = await create()
    await host.notifier.templates.update(id, { html: '<p>One</p>\n<p>2</p>\n<p>{{name}}</p>' })
    await host.notifier.templates.update(id, { subject: 'Bye' })
    await open(`${path}?from=1&to=2`)
    const dialog = page.getByRole('dialog')
    await dialog.getByText('- <p>Two</p>').waitFor()
    await dialog.getByText('+ <p>2</p>').waitFor()
    expect(await dialog.getByText('Hello').count()).toBe(0)
    await assertAccessible(page)
    await dialog.getByLabel('To version').fill('3')
    await dialog.getByText('+ Bye').waitFor()
    await expect.poll(() => page.url()).toContain('to=3')
    await dialog.getByLabel('To version').fill('9')
    await dialog.getByText(/has only the versions/).waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(() => page.url()).not.toContain('from=')

    await page.getByLabel('Description').fill('Unsaved')
    expect(await page.getByRole('button', { name: 'Restore: 1' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Discard changes' }).click()
    await page.getByRole('button', { name: 'Restore: 1' }).click()
    await dialog.getByRole('button', { name: 'Restore' }).click()
    await page.getByText('Version 1 was restored.').waitFor()
    await expect.poll(() => lines(page)).toEqual(['<p>One</p>', '<p>Two</p>', '<p>{{name}}</p>'])
    await page.getByRole('row', { name: /^4 Current/ }).waitFor()
    expect(await stored(id)).toMatchObject({ version: 4, subject: 'Hello' })
  })

  it('sends the stored template to see it arrive', async () => {
    const { page, host } = suite
    const { path } = await create()
    await open(path)
    await page.getByLabel('name', { exact: true }).fill('Ada & Eve')
    await page.getByLabel('Subject').fill('Unsaved')
    await page.getByRole('button', { name: 'Send test' }).click()
    await page
      .getByText('A real message is sent from the stored version, without your unsaved changes.')
      .waitFor()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Recipient').fill('nobody')
    await dialog.getByRole('button', { name: 'Send' }).click()
    await expect.poll(() => dialog.getByLabel('Recipient').getAttribute('aria-invalid')).toBe('true')
    await assertAccessible(page)
    await dialog.getByLabel('Recipient').fill('ada@example.com')
    await dialog.getByRole('button', { name: 'Send' }).click()
    await dialog.getByText('The message is on its way').waitFor()
    await expect
      .poll(() => host.sent.at(-1))
      .toMatchObject({
        to: 'ada@example.com',
        subject: 'Hello',
        body: expect.stringContaining('Ada &amp; Eve'),
      })
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('button', { name: 'Discard changes' }).click()
  })

  it('says that a template is gone', async () => {
    const { page, host } = suite
    await signIn(page, host, await host.key(), '/templates/tpl_unknown')
    await page.getByRole('alert').waitFor()
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    await assertAccessible(page)
  })
})
