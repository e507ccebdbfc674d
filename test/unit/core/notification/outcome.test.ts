import { expect, it } from 'vitest'
import { soundOutcome } from '../../../../src/core/notification/outcome.ts'
import { soundReceipt } from '../../../../src/core/notification/receipt.ts'

it.each([
  [1_767_225_600_123, 1_767_225_600_123],
  [1.5, 1],
  [0, undefined],
  [-1, undefined],
  [9e15, undefined],
  [Number.NaN, undefined],
  ['2026-01-01', undefined],
])('a time of %s becomes %s: whatever a plug-in says, also in a receipt, is a date', (since, expected) => {
  const outcome = soundOutcome({ kind: 'rejected', code: 'device_unregistered', scope: 'recipient', since })
  expect(outcome).toMatchObject({ kind: 'rejected', code: 'device_unregistered' })
  expect(outcome?.kind === 'rejected' && outcome.since).toBe(expected)
  const receipt = soundReceipt({ dedupeKey: 'k', fact: { type: 'undelivered', occurredAt: since } })
  expect(receipt?.fact?.occurredAt).toBe(expected)
})

it.each([
  ['its_own', undefined, 'its_own'],
  ['its_own', '42', 'its_own 42'],
  [1005, undefined, '1005'],
  ['x'.repeat(3_000), '42', 'x'.repeat(2_000)],
  ['', '42', '42'],
  [null, undefined, undefined],
])('a code that the catalogue lacks is the own one of the provider: %s beside %s', (code, given, kept) => {
  const expected = { code: 'provider_error', providerCode: kept }
  const said = { code, providerCode: given }
  expect(soundOutcome({ kind: 'rejected', scope: 'message', ...said })).toMatchObject(expected)
  expect(soundOutcome({ kind: 'retry', scope: 'message', ...said })).toMatchObject(expected)
  // Nobody knows whether the provider acted: that is what its notification ends with.
  const ambiguous = soundOutcome({ kind: 'ambiguous', reason: 'Silence.', ...said })
  expect(ambiguous).toMatchObject({ code: undefined, providerCode: kept })
  const receipt = soundReceipt({ dedupeKey: 'k', fact: { type: 'undelivered', ...said } })
  expect(receipt?.fact).toEqual({ type: 'undelivered', ...expected })
})

it('a code of the catalogue stays, and the one of the provider beside it', () => {
  const said = { code: 'mailbox_full', providerCode: '452' } as const
  expect(soundOutcome({ kind: 'rejected', scope: 'recipient', ...said })).toMatchObject(said)
  const receipt = soundReceipt({ dedupeKey: 'k', fact: { type: 'bounced', ...said } })
  expect(receipt?.fact).toEqual({ type: 'bounced', ...said })
})

it.each([
  ['delivered', 'delivered'],
  ['sent', 'sent'],
  [undefined, 'sent'],
  ['DELIVERED', 'sent'],
])('what was accepted as %s is %s', (status, expected) => {
  expect(soundOutcome({ kind: 'accepted', status })).toMatchObject({ kind: 'accepted', status: expected })
})

it.each([
  ['a plain id', 'm-1', 'm-1'],
  ['a number', 17, '17'],
  ['the longest', 'x'.repeat(998), 'x'.repeat(998)],
  ['one that is too long', 'x'.repeat(5_000), 'x'.repeat(998)],
  ['three bytes a character', '字'.repeat(998), '字'.repeat(332)],
  ['four bytes a character', '😀'.repeat(998), '😀'.repeat(249)],
  ['a character over the end', `${'x'.repeat(997)}é`, 'x'.repeat(997)],
  ['nothing', '', undefined],
])('an id for a message is the same in an answer and in a receipt: %s', (_case, given, kept) => {
  const outcome = soundOutcome({ kind: 'accepted', providerMessageId: given })
  expect(outcome?.kind === 'accepted' && outcome.providerMessageId).toBe(kept)
  const receipt = soundReceipt({ dedupeKey: 'k', fact: { type: 'delivered', providerMessageId: given } })
  expect(receipt?.fact?.providerMessageId).toBe(kept)
})
