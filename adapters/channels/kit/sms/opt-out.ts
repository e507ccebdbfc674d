/**
 * The seven words of 47 CFR 64.1200(a)(10); then what carriers and vendors add: Twilio's default keywords, the required
 * ones of AWS End User Messaging, and the French ones of Canada.
 */
const STOP: ReadonlySet<string> = new Set([
  ...['STOP', 'QUIT', 'END', 'REVOKE', 'OPTOUT', 'CANCEL', 'UNSUBSCRIBE'],
  ...['STOPALL', 'REMOVE', 'ARRET', 'ARRETE'],
])
/**
 * Without `YES`, which also answers other questions. Twilio takes it for an opt-in on some numbers; with Advanced
 * Opt-Out it says so.
 */
const START: ReadonlySet<string> = new Set(['START', 'UNSTOP'])

/** A keyword with what may surround its letters. Longer texts are not decomposed. */
const MAX_LENGTH = 500

/**
 * Reads an incoming text. Only a text that equals a keyword counts; case, accents, white space, punctuation and symbols do
 * not.
 */
export function optOutOf(text: string): 'stop' | 'start' | null {
  if (text.length > MAX_LENGTH) return null
  const word = text
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toUpperCase()
  if (STOP.has(word)) return 'stop'
  return START.has(word) ? 'start' : null
}
