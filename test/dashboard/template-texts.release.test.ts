import { expect, it } from 'vitest'
import { assertAccessible } from '../support/dashboard/browser.ts'
import { signIn } from '../support/dashboard/sign-in.ts'
import { describeDashboard } from '../support/dashboard/suite.ts'

describeDashboard('layouts, partials and messages', {}, (suite) => {
  it('are found beside the templates; a layout is created, changed, restored and deleted', async () => {
    const { page, host } = suite
    const { layouts } = host.notifier
    await signIn(page, host, await host.key(), '/templates')
    await page.getByRole('navigation', { name: 'Texts' }).getByRole('link', { name: 'Layouts' }).click()
    await page.getByText('No layouts yet').waitFor()
    await assertAccessible(page)
    await page.getByRole('link', { name: 'New layout' }).first().click()
    await page.locator('.cm-editor').first().waitFor()
    await page.getByLabel('Name').fill('brand')
    const html = page.getByRole('textbox', { name: 'HTML' })
    await html.fill('<h1>Acme</h1>')
    await page.getByRole('button', { name: 'Create' }).click()
    await expect.poll(() => html.getAttribute('aria-invalid')).toBe('true')
    await html.fill('<h1>Acme</h1>{{{content}}}')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('Layout, version 1').waitFor()
    await html.fill('<h1>New</h1>{{{content}}}')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Layout, version 2').waitFor()
    expect(await layouts.get('brand')).toMatchObject({ version: 2, html: '<h1>New</h1>{{{content}}}' })
    await page.getByRole('row', { name: /^1 / }).getByRole('button', { name: 'Compare' }).click()
    await page.getByRole('dialog').getByText('- <h1>Acme</h1>').waitFor()
    await assertAccessible(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
    await page.getByRole('row', { name: /^1 / }).getByRole('button', { name: 'Restore' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click()
    await page.getByText('Layout, version 3').waitFor()

    const { id } = await host.notifier.templates.create({
      name: 'framed',
      channel: 'email',
      html: '<p>Hi</p>',
      layout: 'brand',
    })
    await page.goBack()
    const remove = async () => {
      await page.getByRole('button', { name: 'Delete: brand' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    }
    await remove()
    await page.getByText('is used by the template "framed"').waitFor()
    await host.notifier.templates.update(id, { layout: null })
    await remove()
    await page.getByText('No layouts yet').waitFor()
  })

  it('a layout is shown as it is edited, with an example in its slot and its partials', async () => {
    const { page, host } = suite
    await host.notifier.partials.create({ name: 'sign', html: '<p>Yours, Acme</p>' })
    await host.notifier.layouts.create({ name: 'frame', html: '<h1>Acme</h1>{{{content}}}' })
    await signIn(page, host, await host.key(), '/templates/layouts/frame')
    const frame = page.frameLocator('iframe')
    await frame.getByText('content').waitFor()
    await page.getByLabel('content', { exact: true }).fill('<p>Your parcel</p>')
    await frame.getByRole('paragraph').getByText('Your parcel').waitFor()
    await page.getByRole('textbox', { name: 'HTML' }).fill('<h1>New</h1>{{{content}}}{{> sign}}')
    await frame.getByRole('heading', { name: 'New' }).waitFor()
    await frame.getByText('Yours, Acme').waitFor()
    await assertAccessible(page)
  })

  it('a partial that was changed meanwhile is saved onto the other version', async () => {
    const { page, host } = suite
    const { partials } = host.notifier
    await partials.create({ name: 'foot', html: '<p>Foot</p>', text: 'Foot' })
    await signIn(page, host, await host.key(), '/templates/partials')
    await page.getByRole('link', { name: 'foot' }).click()
    await page.locator('.cm-editor').first().waitFor()
    await page.getByRole('textbox', { name: 'HTML' }).fill('<p>Mine</p>')
    await partials.update('foot', { text: 'Theirs' })
    await page.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('+ <p>Mine</p>').waitFor()
    await dialog.getByRole('button', { name: 'Save mine as a new version' }).click()
    await page.getByText('Partial, version 3').waitFor()
    expect(await partials.get('foot')).toMatchObject({ html: '<p>Mine</p>', text: 'Theirs' })
  })

  it('messages are added, changed and removed by locale, and the page names what is missing', async () => {
    const { page, host } = suite
    const { messages } = host.notifier
    await messages.put('en', { 'order.title': 'Your order', 'order.old': 'Old' })
    await host.notifier.templates.create({ name: 'order', channel: 'email', html: '<p>{{@order.title}}</p>' })
    await signIn(page, host, await host.key(), '/templates/messages')
    await page.getByRole('button', { name: 'Add locale' }).click()
    await page.getByRole('textbox', { name: 'Locale' }).fill('de')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Messages in de' }).waitFor()
    await page.getByLabel('New key').fill('order.old')
    await page.getByRole('button', { name: 'Add message' }).click()
    await page.getByLabel('order.old', { exact: true }).fill('{broken')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('.error').waitFor()
    await assertAccessible(page)
    await page.getByLabel('order.old', { exact: true }).fill('Alt')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The messages were saved.').waitFor()
    expect(await messages.get('de')).toMatchObject({ messages: { 'order.old': 'Alt' } })

    await page.goBack()
    await page
      .getByRole('row', { name: /^order / })
      .getByText('de: order.title')
      .waitFor()
    await assertAccessible(page)
    await page.getByRole('link', { name: 'en', exact: true }).click()
    await page.getByRole('button', { name: 'Remove order.old' }).click()
    await messages.put('en', { 'order.title': 'Your order', 'order.old': 'Old', 'order.new': 'New' })
    await page.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog', { name: 'Version 3 was saved while you were editing' })
    // Only their own edit differs from the newest catalogue.
    await dialog.getByRole('region', { name: 'order.old' }).getByText('- Old').waitFor()
    expect(await dialog.getByRole('region').count()).toBe(1)
    await assertAccessible(page)
    await dialog.getByRole('button', { name: 'Save mine as a new version' }).click()
    await expect
      .poll(async () => (await messages.get('en')).messages)
      .toEqual({ 'order.title': 'Your order', 'order.new': 'New' })
    await page.getByLabel('order.title', { exact: true }).fill('Mine')
    await messages.put('en', { 'order.title': 'Theirs' })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'discard mine' }).click()
    await expect.poll(() => page.getByLabel('order.title', { exact: true }).inputValue()).toBe('Theirs')
    expect((await messages.get('en')).messages).toEqual({ 'order.title': 'Theirs' })
  })

  it('are read with a key that may not write', async () => {
    const { page, host } = suite
    await host.notifier.layouts.create({ name: 'seen', html: '{{{content}}}' })
    await signIn(page, host, await host.key('Read Only'), '/templates/layouts')
    await page.getByRole('link', { name: 'seen' }).click()
    await page.getByText('Layout, version 1').waitFor()
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0)
    expect(await page.getByLabel('Description').getAttribute('readonly')).not.toBeNull()
  })
})
