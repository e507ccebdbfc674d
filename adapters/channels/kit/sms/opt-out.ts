/** Keywords that opt out. Carriers in the United States require all of them (CTIA, TCPA). */
const STOP: ReadonlySet<string> = new Set([
  'STOP',
  'STOPALL',
  'UNSUBSCRIBE',
  'CANCEL',
  'END',
  'QUIT',
  'OPTOUT',
  'REVOKE',
])
/** Without `YES`, which also answers other questions. */
const START: ReadonlySet<string> = new Set(['START', 'UNSTOP'])

/** Reads an incoming text. Only a text that equals a keyword counts. */
export function optOutOf(text: string): 'stop' | 'start' | null {
  const word = text.trim().toUpperCase()
  if (STOP.has(word)) return 'stop'
  return START.has(word) ? 'start' : null
}
