import { describe, expect, it } from 'vitest'
import { envelopeAddress } from '../../../../src/core/channels/mail-parts.ts'
import { parseMailbox } from '../../../../src/core/channels/mailbox.ts'

describe('envelopeAddress', () => {
  it.each([
    ['ada@example.com', 'ada@example.com'],
    ['Ada.Lovelace+x@EXAMPLE.com', 'Ada.Lovelace+x@example.com'],
    ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
    ['ada@localhost', 'ada@localhost'],
  ])('gives %s as %s', (text, address) => {
    expect(envelopeAddress(text)).toBe(address)
  })

  it.each([
    '',
    'ada',
    '@example.com',
    'ada@',
    'ü@example.com',
    'a b@example.com',
    'a@b@c',
    'a@ex_ample.com',
    'a@[::1]',
    'a@example.com/x',
    'a@example.com?x',
    'a@example.com#x',
    'a@example.com\\x',
    'a@ex%61mple.com',
    'a@example.com:25',
  ])('refuses %j', (text) => {
    expect(envelopeAddress(text)).toBeNull()
  })
})

describe('parseMailbox', () => {
  it.each([
    ['ada@example.com', '', 'ada@example.com'],
    ['  <ada@example.com>  ', '', 'ada@example.com'],
    ['Ada Lovelace <ada@example.com>', 'Ada Lovelace', 'ada@example.com'],
    ['"Lovelace, Ada" <ada@example.com>', 'Lovelace, Ada', 'ada@example.com'],
    ['"Ada \\"the\\" L \\\\ \\x" <ada@example.com>', 'Ada "the" L \\ x', 'ada@example.com'],
    ['"Ada "the" L" <ada@example.com>', 'Ada "the" L', 'ada@example.com'],
    ['Ada \\o/ <ada@example.com>', 'Ada \\o/', 'ada@example.com'],
    ['Grüße <ada@bücher.example>', 'Grüße', 'ada@xn--bcher-kva.example'],
  ])('reads %j', (text, name, address) => {
    expect(parseMailbox(text)).toEqual({ name, address })
  })

  it.each([
    '',
    'Ada',
    'Ada <>',
    'Ada <ada>',
    '<a@example.com> x',
    '<a@example.com><b@example.com>',
    'A\r\nB <a@example.com>',
  ])('refuses %j', (text) => {
    expect(parseMailbox(text)).toBeNull()
  })
})
