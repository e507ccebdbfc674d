import { generateKeyPairSync } from 'node:crypto'
import { expect, it } from 'vitest'
import { providerToken } from '../../../adapters/channels/apns/token.ts'

const { privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
const MINUTE = 60_000
const START = Date.UTC(2026, 0, 15, 12)

function fixture() {
  let now = START
  const token = providerToken({ key, keyId: 'KEY1234567', teamId: 'TEAM123456' }, () => now)
  return {
    token,
    at(minutes: number) {
      now = START + minutes * MINUTE
    },
  }
}

it('is one token for fifty minutes, and never as old as an hour', () => {
  const { token, at } = fixture()
  const first = token.current()
  at(49.9)
  expect(token.current()).toBe(first)
  at(50)
  const second = token.current()
  expect(second).not.toBe(first)
  at(99)
  expect(token.current()).toBe(second)
})

it('is not made again within twenty minutes, whatever APNs says', () => {
  const { token, at } = fixture()
  const first = token.current()
  at(19.9)
  expect(token.expired(first)).toBe(false)
  expect(token.current()).toBe(first)
  at(20)
  expect(token.expired(first)).toBe(true)
  expect(token.current()).not.toBe(first)
})

it('is renewed once for all who were told that it expired', () => {
  const { token, at } = fixture()
  const first = token.current()
  at(30)
  token.expired(first)
  const second = token.current()
  expect(token.expired(first)).toBe(true)
  expect(token.current()).toBe(second)
})

it('is renewed when the clock was set back', () => {
  const { token, at } = fixture()
  const first = token.current()
  at(-5)
  expect(token.current()).not.toBe(first)
})
