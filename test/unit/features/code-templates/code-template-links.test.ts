import { describe, expect, it } from 'vitest'
import { defineTemplates } from '../../../../src/index.ts'
import { TO, withTemplates } from '../../../support/code-templates.ts'

const URL = 'https://example.com/api'

describe('the links of a message', () => {
  const links = defineTemplates({
    links: {
      channel: 'email',
      html: ({ urls }) =>
        `<a href="${urls.unsubscribeUrl}">Leave</a>${encodeURIComponent(urls.preferencesUrl)}`,
      text: 'Leave: {{unsubscribeUrl}}',
    },
  })
  const unsubscribe = (text: string | undefined) => /unsubscribe\?t(?:=|&#61;)([\w.-]+)/.exec(text ?? '')?.[1]

  it('are those of each address of a person, in a text that was written once', async () => {
    let written = 0
    const { world, notifier, email } = await withTemplates(
      defineTemplates({
        links: {
          channel: 'email',
          html: ({ urls }) => {
            written += 1
            return `<a href="${urls.unsubscribeUrl}">Leave</a>`
          },
        },
      }),
      {
        publicUrl: URL,
        recipients: { resolve: () => ({ ada: { channels: { email: [TO, 'a@example.com'] } } }) },
      },
    )
    const { ids = [] } = await notifier.send({ recipient: 'ada', template: 'links' })
    for (const id of ids) await world.ended(notifier, id)
    const tokens = email.messages.map(({ body }) => unsubscribe(body))
    expect(new Set(tokens).size).toBe(2)
    expect(tokens).not.toContain(undefined)
    expect(written).toBe(1)
  })

  it('are in none of what others read', async () => {
    const { notifier, sent } = await withTemplates(links, { publicUrl: URL })
    const { id } = await notifier.send({ to: TO, template: 'links' })
    const mail = await sent(id)
    expect(unsubscribe(mail?.body)).toBeDefined()
    expect(mail?.body).toContain(encodeURIComponent(`${URL}/preferences?t=`))
    expect(unsubscribe(mail?.text)).toBe(unsubscribe(mail?.body))
    expect(JSON.stringify(mail)).not.toContain('links.invalid')
    const { rendered } = await notifier.notifications.get(id, { rendered: true })
    expect(rendered?.body).toContain('https://example.com/unsubscribe"')
    const { rendered: validated } = await notifier.validate({ to: TO, template: 'links' })
    expect(validated.text).toBe('Leave: https://example.com/unsubscribe')
  })

  it('are not there for a value that guesses a placeholder, and need an address', async () => {
    const written = defineTemplates({
      written: { channel: 'email', html: 'Hi', text: ({ urls }) => urls.unsubscribeUrl },
    })
    const { notifier: unwritten } = await withTemplates(written)
    await expect(unwritten.send({ to: TO, template: 'written' })).rejects.toMatchObject({
      code: 'invalid_parameter',
      message:
        'The function "text" of the template "written" uses `urls.unsubscribeUrl`, which needs the option "publicUrl". It is not set.',
      details: { field: 'text', template: 'written', option: 'publicUrl' },
    })
    const { notifier } = await withTemplates(links)
    await expect(notifier.send({ to: TO, template: 'links' })).rejects.toMatchObject({
      code: 'invalid_parameter',
      details: { option: 'publicUrl' },
    })
    const variables = { unsubscribeUrl: 'https://evil.example' }
    const { notifier: other } = await withTemplates(links, { publicUrl: URL })
    await expect(other.send({ to: TO, template: 'links', variables })).rejects.toMatchObject({
      code: 'invalid_template_variable',
    })
  })

  it('do not change when an attempt is repeated, and are new in a resent message', async () => {
    const { world, notifier, email } = await withTemplates(links, { publicUrl: URL })
    const { id } = await notifier.send({ to: TO, template: 'links' })
    await world.ended(notifier, id)
    const again = await notifier.notifications.resend(id)
    await world.ended(notifier, again.id)
    const [first, second] = email.messages.map(({ body }) => body.replaceAll(/t(=|&#61;|%3D)[\w.-]+/g, 't'))
    expect(first).toBe(second)
    expect(unsubscribe(email.messages[0]?.body)).not.toBe(unsubscribe(email.messages[1]?.body))
  })
})
