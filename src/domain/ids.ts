/** A source of ids for one process. */
export interface IdGenerator {
  /** `notif_` and 29 digits: sortable by time, unique over processes without coordination. */
  notification(): string
  /** `<prefix>_` and 22 url-safe characters, 128 random bits or more. */
  random(prefix: 'tpl' | 'org' | 'req' | 'key' | 'wh' | 'evt'): string
}

/** What ids are made from. */
export interface IdSource {
  /** Epoch milliseconds, fractions allowed. May step back. */
  now(): number
  /** Cryptographically random bytes. */
  randomBytes(size: number): Uint8Array
}

const PER_MILLISECOND = 10_000
const PROCESS_DIGITS = 12
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/**
 * Creates the id generator of one process.
 *
 * A notification id is 13 digits of milliseconds, 4 digits that count within the millisecond, and 12 random
 * digits drawn once per process: two processes can only collide if they drew the same of 10^12 numbers.
 * The time part never goes back within a process, whatever the clock does; when a millisecond's 10,000
 * numbers are used up, the next millisecond's are borrowed.
 */
export function createIdGenerator(source: IdSource): IdGenerator {
  const suffix = randomDigits(source, PROCESS_DIGITS)
  let millisecond = 0
  let count = 0
  let head = ''
  return {
    notification() {
      const now = Math.floor(source.now())
      if (now > millisecond || count === PER_MILLISECOND) {
        millisecond = Math.max(now, millisecond + 1)
        count = 0
        head = `notif_${String(millisecond).padStart(13, '0')}`
      }
      const id = head + (PER_MILLISECOND + count).toString().slice(1) + suffix
      count += 1
      return id
    },
    random(prefix) {
      let text = `${prefix}_`
      for (const byte of source.randomBytes(22)) text += ALPHABET[byte & 63]
      return text
    },
  }
}

function randomDigits(source: IdSource, digits: number): string {
  let text = ''
  while (text.length < digits) {
    for (const byte of source.randomBytes(digits)) {
      // 250 is the largest multiple of 10 in a byte: the others would make low digits likelier.
      if (byte < 250 && text.length < digits) text += String(byte % 10)
    }
  }
  return text
}
