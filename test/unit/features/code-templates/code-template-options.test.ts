import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createNotifier } from '../../../../src/index.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'

describe('a definition', () => {
  const text = 'x'
  const html = (): string => ''
  const variables = z.object({ items: z.array(z.string()) })
  const later = variables.refine(async () => true)
  it.each([
    ['templates.Hi', { Hi: { channel: 'email', text } }],
    ['templates.hi.channel', { hi: { channel: 'carrier-pigeon', text } }],
    ['templates.hi', { hi: { channel: 'email' } }],
    ['templates.hi.text', { hi: { channel: 'email', text: '{{#a}}' } }],
    [
      'templates.hi.locales.de.text',
      { hi: { channel: 'email', text, locales: { de: { text: '{{#if a}}' } } } },
    ],
    ['templates.hi.html', { hi: { channel: 'sms', html: '<p></p>' } }],
    ['templates.hi.variables', { hi: { channel: 'email', text, variables: { name: 'string' } } }],
    ['templates.hi.mjml', { hi: { channel: 'email', mjml: '<mjml>{{#a}}</mjml>' } }],
    ['templates.hi.body', { hi: { channel: 'email', body: '<p>{{#a}}</p>' } }],
    ['templates.hi.text', { hi: { channel: 'email', body: text, text } }],
    ['templates.hi.locales.de.body', { hi: { channel: 'email', body: text, locales: { de: { text } } } }],
    [
      'templates.hi.locales.de.body',
      { hi: { channel: 'email', text, locales: { de: { text, body: text } } } },
    ],
    ['templates.hi.subjet', { hi: { channel: 'email', text, subjet: 'Hi' } }],
    ['templates.hi.text', { hi: { channel: 'email', text, stored: true } }],
    ['templates.hi.layout', { hi: { channel: 'email', html, layout: 'brand' } }],
    ['templates.hi.locales', { hi: { channel: 'email', html, locales: { de: {} } } }],
    ['templates.hi.locales.de.text', { hi: { channel: 'email', text, locales: { de: { subject: 'x' } } } }],
    [
      'templates.hi.locales.de.html',
      { hi: { channel: 'email', subject: text, html, locales: { de: { html: text } } } },
    ],
    [
      'templates.hi.locales.de.html',
      { hi: { channel: 'email', text, locales: { de: { text, html: text } } } },
    ],
  ])('is refused as %s', (option, given) => {
    expect(() =>
      createNotifier({ channels: { email: recordingProvider() }, templates: given as never }),
    ).toThrow(expect.objectContaining({ code: 'invalid_configuration', details: { option } }))
  })

  it.each([
    [{ hi: { channel: 'email', text, layout: 'brand' } }, 'The layout "brand" does not exist', 'layout'],
    [{ hi: { channel: 'email', text: '{{> footer}}' } }, 'The partial "footer" does not exist', undefined],
    [{ hi: { channel: 'email', text, variables, example: { items: [1] } } }, 'variables.items[0]', 'example'],
    [{ hi: { channel: 'email', text, variables: later, example: { items: [1] } } }, 'items[0]', 'example'],
    [{ hi: { channel: 'email', stored: true, variables, example: {} } }, 'variables.items', 'example'],
  ])('is refused by the start', async (given, reason, field) => {
    const notifier = createNotifier({ channels: { email: recordingProvider() }, templates: given as never })
    await expect(notifier.start()).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringContaining(reason),
      details: { option: field === undefined ? 'templates.hi' : `templates.hi.${field}` },
    })
  })
})

it('an unknown field names those that exist', () => {
  const templates = { hi: { channel: 'email', text: 'x', subjet: 'Hi' } } as never
  expect(() => createNotifier({ channels: { email: recordingProvider() }, templates })).toThrow(
    'templates.hi.subject',
  )
})

it.each([
  ['layouts.brand.html', { layouts: { brand: { html: '{{{content}}}{{> footer}}' } } }],
  ['partials.a.text', { partials: { a: { text: '{{> b}}' }, b: { text: '{{> a}}' } } }],
  ['partials.a.html', { partials: { a: { html: '{{> b}}' }, b: { text: 'x' } } }],
])('%s is refused for a partial that is missing or contains itself', (option, given) => {
  expect(() => createNotifier({ channels: {}, ...given })).toThrow(
    expect.objectContaining({ code: 'invalid_configuration', details: { option } }),
  )
})
