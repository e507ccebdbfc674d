import { describe, expect, it } from 'vitest'
import { createNotifier } from '../../../src/index.ts'

describe('a definition', () => {
  const text = 'x'
  const html = (): string => ''
  it.each([
    ['templates.Hi', { Hi: { channel: 'email', text } }],
    ['templates.hi', { hi: { channel: 'carrier-pigeon', text } }],
    ['templates.hi', { hi: { channel: 'email' } }],
    ['templates.hi', { hi: { channel: 'email', text: '{{#a}}' } }],
    ['templates.hi', { hi: { channel: 'email', text, locales: { de: { text: '{{#if a}}' } } } }],
    ['templates.hi', { hi: { channel: 'sms', html: '<p></p>' } }],
    ['templates.hi', { hi: { channel: 'email', text, variables: { name: 'string' } } }],
    ['templates.hi', { hi: { channel: 'email', text, colour: 'red' } }],
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
    expect(() => createNotifier({ channels: {}, templates: given as never })).toThrow(
      expect.objectContaining({ code: 'invalid_configuration', details: { option } }),
    )
  })

  it.each([
    [{ hi: { channel: 'email', text, layout: 'brand' } }, 'The layout "brand" does not exist'],
    [{ hi: { channel: 'email', text: '{{> footer}}' } }, 'The partial "footer" does not exist'],
  ])('is refused by the start', async (given, reason) => {
    const notifier = createNotifier({ channels: {}, templates: given as never })
    await expect(notifier.start()).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringContaining(reason),
      details: { option: 'templates.hi' },
    })
  })
})
