import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { optOutOf } from '../../../../adapters/channels/kit/sms/opt-out.ts'

/** 47 CFR 64.1200(a)(10), then what carriers and vendors add. */
const STOP = [
  ...['stop', 'quit', 'end', 'revoke', 'opt out', 'cancel', 'unsubscribe'],
  ...['stopall', 'stop all', 'remove', 'arret', 'arrete'],
]
const START = ['start', 'unstop']

const hasLetters = (text: string) => /[\p{L}\p{N}]/u.test(text.normalize('NFKD'))

describe('an incoming text', () => {
  it.each(STOP)('opts out: %s', (word) => {
    expect(optOutOf(word)).toBe('stop')
  })

  it.each(START)('opts in: %s', (word) => {
    expect(optOutOf(word)).toBe('start')
  })

  it.each([
    'Stop.',
    'STOP!!',
    '"STOP"',
    "'stop'",
    '“Stop”',
    '«stop»',
    '„STOP“',
    '(stop)',
    '- STOP -',
    '\u00a0stop\u2003\n',
    'S T O P',
    'ＳＴＯＰ',
    'ｓｔｏｐ！',
    'stop\u200b',
    '\u202aSTOP\u202c',
    '\ufeffstop',
    'STOP 🛑',
    '✋🏽 Stop ❤️',
    'Opt-out',
    'OPT OUT',
    'Opt\u2011Out.',
    'optout',
    'Stop-All',
    'ARRÊT',
    'Arrêté.',
    'ＱＵＩＴ。',
  ])('opts out whatever surrounds its letters: %j', (text) => {
    expect(optOutOf(text)).toBe('stop')
  })

  it.each(['Start.', '“Un-stop”', 'START ✅'])('opts in whatever surrounds its letters: %j', (text) => {
    expect(optOutOf(text)).toBe('start')
  })

  it.each([
    ...['', ' ', '.', '🛑', '…', 'Hello', 'HELP', 'YES', 'no'],
    ...[
      'Please stop',
      'Stop it',
      "Don't stop",
      'Where is the bus stop?',
      'stop 2',
      'STOP1',
      'stopped',
      'nonstop',
    ],
    ...[
      'The end',
      'weekend',
      'Cancel my order',
      'I quit smoking',
      'opt',
      'out',
      'opt in',
      'restart',
      'start now',
    ],
    'stop '.repeat(2),
  ])('that says more or something else changes nothing: %j', (text) => {
    expect(optOutOf(text)).toBeNull()
  })

  it('is read the same in any case and between any signs', () => {
    // Some signs stand for letters, such as ™.
    const sign = fc.stringMatching(/^[\s\p{P}\p{S}\p{Cf}]{0,6}$/u).filter((signs) => !hasLetters(signs))
    fc.assert(
      fc.property(
        fc.constantFrom(...STOP, ...START),
        fc.infiniteStream(fc.boolean()),
        fc.infiniteStream(sign),
        (word, upper, signs) => {
          const written = [...word]
            .map((letter) => (upper.next().value ? letter.toUpperCase() : letter) + signs.next().value)
            .join('')
          expect(optOutOf(written)).toBe(START.includes(word) ? 'start' : 'stop')
        },
      ),
    )
  })

  it('with one more letter or digit is another word', () => {
    const more = fc.stringMatching(/^[\p{L}\p{N}]$/u)
    const words = new Set([...STOP, ...START].map((word) => word.replaceAll(' ', '')))
    fc.assert(
      fc.property(fc.constantFrom(...STOP, ...START), more, (word, letter) => {
        fc.pre(!words.has((word.replaceAll(' ', '') + letter.normalize('NFKD')).toLowerCase()))
        expect(optOutOf(word + letter)).toBeNull()
        expect(optOutOf(letter + word)).toBeNull()
      }),
    )
  })
})
