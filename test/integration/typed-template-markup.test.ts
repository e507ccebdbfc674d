import { parse } from 'parse5'
import { createElement } from 'react'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createNotifier, defineTemplates } from '../../src/index.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { TO, withTemplates } from '../support/code-templates.ts'

interface Node {
  readonly nodeName: string
  readonly value?: string
  readonly attrs?: readonly { readonly name: string; readonly value: string }[]
  readonly childNodes?: readonly Node[]
}

/** All nodes of an HTML document as a mail program reads it. */
function nodesOf(html: string | undefined): Node[] {
  const all = (node: Node): Node[] => [node, ...(node.childNodes ?? []).flatMap(all)]
  return all(parse(html ?? '') as unknown as Node)
}

function textOf(nodes: readonly Node[]): string {
  return nodes
    .flatMap(({ nodeName, value }) => (nodeName === '#text' ? (value ?? '').trim() : []))
    .join(' ')
    .trim()
}

function linksOf(nodes: readonly Node[]): (string | undefined)[] {
  return nodes
    .filter(({ nodeName }) => nodeName === 'a')
    .map(({ attrs = [] }) => attrs.find(({ name }) => name === 'href')?.value)
}

const variables = z.object({ name: z.string() })

function Mail({ name, leave }: { name: string; leave: string }) {
  return createElement(
    'html',
    { lang: 'en' },
    createElement(
      'body',
      null,
      createElement('h1', null, `Hello ${name}`),
      createElement('a', { href: leave }, 'Leave'),
    ),
  )
}

describe('an element of React', () => {
  const templates = defineTemplates({
    react: {
      channel: 'email',
      variables,
      subject: 'Hello {{name}}',
      html: ({ variables, urls }) => createElement(Mail, { ...variables, leave: urls.unsubscribeUrl }),
    },
    own: {
      channel: 'email',
      html: async () => createElement('p', null, 'HTML'),
      text: () => createElement('p', null, 'Text'),
    },
    broken: {
      channel: 'email',
      html: () =>
        createElement(() => {
          throw new Error('no data')
        }),
    },
    subject: { channel: 'email', subject: (() => createElement('p')) as never, text: 'x' },
  })

  it('becomes the HTML and the plain text of a mail', async () => {
    const { notifier, sent } = await withTemplates(templates, { publicUrl: 'https://example.com/api' })
    const { id } = await notifier.send({ to: TO, template: 'react', variables: { name: '<A> & {{B}}' } })
    const mail = await sent(id)
    const nodes = nodesOf(mail?.body)
    expect(textOf(nodes)).toBe('Hello <A> & {{B}} Leave')
    const [link] = linksOf(nodes)
    expect(link).toMatch(/^https:\/\/example\.com\/api\/unsubscribe\?t=[\w.-]+$/)
    expect(mail).toMatchObject({ subject: 'Hello <A> & {{B}}', format: 'html' })
    expect(mail?.text).toBe(`HELLO <A> & {{B}}\n\nLeave ${link}`)
  })

  it('may be the plain text of its own', async () => {
    const { notifier, sent } = await withTemplates(templates, { publicUrl: 'https://example.com/api' })
    const { id } = await notifier.send({ to: TO, template: 'own' })
    const mail = await sent(id)
    expect(textOf(nodesOf(mail?.body))).toBe('HTML')
    expect(mail?.text).toBe('Text')
  })

  it('fails with what a component threw, and is no subject', async () => {
    const { notifier } = await withTemplates(templates)
    await expect(notifier.send({ to: TO, template: 'broken' })).rejects.toMatchObject({
      code: 'template_error',
      details: { template: 'broken' },
      cause: { message: 'no data' },
    })
    await expect(notifier.send({ to: TO, template: 'subject' })).rejects.toMatchObject({
      code: 'template_error',
      message: 'The function "subject" of the template "subject" returned object. It must return a text.',
    })
  })
})

describe('MJML', () => {
  const mail = (text: string) =>
    `<mjml><mj-body><mj-section><mj-column><mj-text>${text}</mj-text></mj-column></mj-section></mj-body></mjml>`

  it('is compiled in each locale, before values are inserted', async () => {
    const { notifier, sent } = await withTemplates(
      defineTemplates({
        mjml: {
          channel: 'email',
          variables,
          locale: 'en',
          subject: 'Hello',
          mjml: mail('Hello {{name}} <a href="{{unsubscribeUrl}}">Leave</a>'),
          locales: { de: { subject: 'Hallo', mjml: mail('Hallo {{name}}') } },
        },
      }),
      { publicUrl: 'https://example.com/api' },
    )
    const name = '</mj-text><mj-button>Buy</mj-button>'
    const { id } = await notifier.send({ to: TO, template: 'mjml', variables: { name } })
    const english = nodesOf((await sent(id))?.body)
    expect(textOf(english)).toContain(`Hello ${name} Leave`)
    expect(linksOf(english)).toEqual([expect.stringMatching(/unsubscribe\?t=[\w.-]+$/)])
    const german = await notifier.send({ to: TO, template: 'mjml', variables: { name }, locale: 'de' })
    const mailInGerman = await sent(german.id)
    expect(mailInGerman?.subject).toBe('Hallo')
    expect(textOf(nodesOf(mailInGerman?.body))).toContain(`Hallo ${name}`)
  })

  it.each([
    ['<mjml>\n<mj-body>\n<mj-foo/></mj-body></mjml>', 'line 3 (mj-foo): Element mj-foo'],
    ['<p>', "Element p doesn't exist"],
    ['no MJML', 'Parsing failed'],
  ])('is refused by the start with the line of a fault', async (mjml, fault) => {
    const notifier = createNotifier({
      channels: { email: recordingProvider() },
      templates: { hi: { channel: 'email', mjml } } as never,
    })
    const error = await notifier.start().catch((error) => error)
    expect(error).toMatchObject({ code: 'invalid_configuration', details: { option: 'templates.hi.mjml' } })
    expect(error.message).toContain(fault)
    expect(error.message).not.toContain(process.cwd())
  })

  it('reads no file', async () => {
    const mjml = mail('x').replace('<mj-body>', '<mj-body><mj-include path="./package.json" />')
    const { notifier } = await withTemplates({ hi: { channel: 'email', mjml } } as never)
    expect((await notifier.templates.preview('hi')).body).not.toContain('"version"')
  })
})
