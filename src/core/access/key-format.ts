import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_LENGTH = 32
const CHECKSUM_LENGTH = 6

/** The prefixes of organization keys and operator keys. */
const PREFIXES = { organization: 'crl_', operator: 'crlop_' } as const

/** Matches every API key and operator key; publish it to secret scanners. */
export const API_KEY_PATTERN: RegExp = /^crl(?:op)?_[0-9A-Za-z]{38}$/

/**
 * Creates a key: `crl_` or `crlop_`, 32 random base-62 characters (190 bits) and 6 of CRC-32. The checksum refuses
 * garbage without a lookup and lets scanners recognize leaked keys.
 */
export function newApiKey(kind: keyof typeof PREFIXES): string {
  let text: string = PREFIXES[kind]
  const length = text.length + RANDOM_LENGTH
  while (text.length < length) {
    for (const byte of randomBytes(RANDOM_LENGTH)) {
      // 248 is the largest multiple of 62 in a byte: higher values would favour some characters.
      if (byte < 248 && text.length < length) text += BASE62[byte % 62]
    }
  }
  return text + checksum(text)
}

/** True: the text has the form of a key with a valid checksum. The key need not exist. */
export function isWellFormedApiKey(text: string): boolean {
  return API_KEY_PATTERN.test(text) && text.endsWith(checksum(text.slice(0, -CHECKSUM_LENGTH)))
}

/** True: the text has the form of an operator key. The key may not exist. */
export function isOperatorKey(text: string): boolean {
  return text.startsWith(PREFIXES.operator)
}

/** The part of a key that may be shown: its prefix and four characters. */
export function beginningOf(key: string): string {
  return key.slice(0, key.indexOf('_') + 5)
}

function checksum(text: string): string {
  let value = crc32(text)
  let digits = ''
  for (let place = 0; place < CHECKSUM_LENGTH; place += 1) {
    digits = BASE62[value % 62] + digits
    value = Math.floor(value / 62)
  }
  return digits
}
