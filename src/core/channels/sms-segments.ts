import { NotifierError } from '../errors/notifier-error.ts'

/** Encoding and segments of a text message. */
export interface SmsText {
  /** `gsm-7`: 7-bit characters of GSM 03.38. `ucs-2`: 16-bit units, as soon as a character is in neither GSM table. */
  readonly encoding: 'gsm-7' | 'ucs-2'
  /** Segments that the carrier sends and charges; at least 1. */
  readonly segments: number
  /**
   * Length as the carrier counts it: septets in `gsm-7`, where `^{}\[~]|€` and the form feed take two; UTF-16 units in
   * `ucs-2`.
   */
  readonly characters: number
}

/** 3GPP TS 23.038 6.2.1: the default alphabet in order, without the escape. */
const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà'
/** 3GPP TS 23.038 6.2.1.1: the extension table. Each character is an escape and a septet. */
const EXTENSION = '\f^{}\\[~]|€'

/** Septets by UTF-16 unit. 0: in neither table. */
const SEPTETS = new Uint8Array(0x10000)
for (const character of BASIC) SEPTETS[character.charCodeAt(0)] = 1
for (const character of EXTENSION) SEPTETS[character.charCodeAt(0)] = 2

/** Units of a single segment, and of each of several: their header takes 7 septets or 3 units. */
const GSM = { alone: 160, part: 153 } as const
const UCS = { alone: 70, part: 67 } as const

/**
 * Counts the segments of a text. Escaped characters and surrogate pairs are never split, so a segment may have a unit
 * to spare.
 */
export function smsText(body: string): SmsText {
  const gsm = isGsm(body)
  const sizes = gsm ? GSM : UCS
  let characters = 0
  let parts = 1
  let used = 0
  for (let at = 0, units = 1; at < body.length; at += units) {
    const code = body.codePointAt(at) ?? 0
    units = code > 0xffff ? 2 : 1
    const size = gsm ? (SEPTETS[code] ?? 1) : units
    characters += size
    used += size
    if (used > sizes.part) {
      parts += 1
      used = size
    }
  }
  return {
    encoding: gsm ? 'gsm-7' : 'ucs-2',
    segments: characters <= sizes.alone ? 1 : parts,
    characters,
  }
}

/**
 * Counts the segments of a text within a limit.
 *
 * @throws NotifierError `message_too_large`
 */
export function boundedSmsText(body: string, maxSegments: number): SmsText {
  const text = smsText(body)
  if (text.segments <= maxSegments) return text
  throw new NotifierError('message_too_large', {
    message:
      `The text takes ${text.segments} segments (${text.characters} characters in ${text.encoding}); ` +
      `at most ${maxSegments} are allowed.`,
    details: { field: 'body', ...text, maxSegments },
  })
}

/** True: all characters are in the GSM tables. */
export function isGsm(body: string): boolean {
  for (let at = 0; at < body.length; at += 1) if (SEPTETS[body.charCodeAt(at)] === 0) return false
  return true
}
