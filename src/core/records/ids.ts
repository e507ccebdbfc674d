/** The source of ids in a process. */
export interface IdGenerator {
  /** `notif_` and 34 digits: 13 of milliseconds, so that ids sort by time, and 21 random ones. */
  notification(): string
  /** `<prefix>_` and 22 url-safe characters: 132 random bits. */
  random(prefix: string): string
}

/** Time and random bytes for ids. */
export interface IdSource {
  /** Epoch milliseconds, fractions allowed. */
  now(): number
  /** Cryptographically random bytes. */
  randomBytes(size: number): Uint8Array
}

const POOL_BYTES = 4_096
const RANDOM_CHARACTERS = 22
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

const THREE_DIGITS = Array.from({ length: 1_000 }, (_, number) => String(number).padStart(3, '0'))

const LATEST = 9_999_999_999_999

/**
 * Sorts before all ids of notifications that were made at this time or later, and after all others.
 *
 * @param time epoch milliseconds
 *
 * @example
 * const today = await query('SELECT id FROM notifications WHERE id >= $1', [firstIdAt(Date.UTC(2030, 0, 1))])
 */
export function firstIdAt(time: number): string {
  return `notif_${String(Math.min(Math.max(Math.ceil(time), 0), LATEST)).padStart(13, '0')}`
}

/**
 * Creates the id generator of a process. Draws random bytes for many ids at once, because each draw is expensive. Ids
 * reveal neither other ids nor their number.
 *
 * Ids of the same millisecond have no order; storages number what they accept.
 */
export function createIdGenerator(source: IdSource): IdGenerator {
  let pool: Uint8Array = new Uint8Array(0)
  let used = 0

  /** Takes bytes from the pool; returns their start. */
  function draw(size: number): number {
    if (used + size > pool.length) {
      pool = source.randomBytes(POOL_BYTES)
      used = 0
    }
    used += size
    return used - size
  }

  function threeDigits(): string {
    for (;;) {
      const at = draw(2)
      // Ten bits. Numbers above 999 are drawn again, to keep the digits uniform.
      const digits = THREE_DIGITS[(((pool[at] ?? 0) << 8) | (pool[at + 1] ?? 0)) & 1_023]
      if (digits !== undefined) return digits
    }
  }

  return {
    notification() {
      let id = `notif_${String(Math.floor(source.now())).padStart(13, '0')}`
      for (let count = 0; count < 7; count += 1) id += threeDigits()
      return id
    },
    random(prefix) {
      const at = draw(RANDOM_CHARACTERS)
      let text = `${prefix}_`
      for (const byte of pool.subarray(at, at + RANDOM_CHARACTERS)) text += ALPHABET[byte & 63]
      return text
    },
  }
}
