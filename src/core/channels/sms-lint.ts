import type { ChannelLint } from './channel-kind.ts'
import type { LintFault } from './lint.ts'
import { isGsm, smsText } from './sms-segments.ts'

/** Characters that word processors put instead of others. */
const INSTEAD: Readonly<Record<string, string>> = {
  '‘': "'",
  '’': "'",
  '‚': "'",
  '′': "'",
  '`': "'",
  '´': "'",
  '“': '"',
  '”': '"',
  '„': '"',
  '«': '"',
  '»': '"',
  '–': '-',
  '—': '-',
  '‑': '-',
  '…': '...',
  '•': '-',
  '\u00a0': 'a space',
  '\u202f': 'a space',
  '\u200b': 'nothing',
  '\ufeff': 'nothing',
  '\u00ad': 'nothing',
  '\t': 'a space',
}

/** A letter of a language that the GSM alphabet cannot write. */
const OTHER_SCRIPT = /[^\p{Script=Latin}\p{Script=Greek}\p{Script=Common}\p{Script=Inherited}]/u

/** Maximum number of characters to name. */
const MOST_CHARACTERS = 10

/** Rules for text messages. */
export const smsLint: ChannelLint = {
  rules: {
    non_gsm_character: {
      severity: 'warning',
      finds:
        'a character that is not in the GSM alphabet, so that a segment has 70 characters in place of 160. Not in languages of other scripts',
    },
    several_segments: { severity: 'warning', finds: 'a text that is charged as several messages' },
  },
  *find({ body, isMeasured }) {
    yield* otherCharacters(body)
    if (!isMeasured) return
    const { segments, characters, encoding } = smsText(body)
    if (segments > 1)
      yield {
        rule: 'several_segments',
        field: 'body',
        message: `The text is charged as ${segments} messages: it has ${characters} characters, and one message holds ${encoding === 'gsm-7' ? 160 : 70}. Shorten it.`,
      }
  },
}

function* otherCharacters(body: string): Generator<LintFault> {
  if (isGsm(body) || OTHER_SCRIPT.test(body)) return
  const others = new Set([...body].filter((character) => !isGsm(character)))
  for (const character of [...others].slice(0, MOST_CHARACTERS)) {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    const instead = INSTEAD[character]
    yield {
      rule: 'non_gsm_character',
      field: 'body',
      excerpt: character,
      message:
        `The character U+${code} is not in the GSM alphabet, so that each segment has 70 characters in place of 160. ` +
        (instead === undefined ? 'Leave it out.' : `Write ${instead} in its place.`),
    }
  }
}
