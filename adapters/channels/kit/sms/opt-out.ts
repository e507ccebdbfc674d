/** What a recipient asks for by an answer; carriers of the United States require all of them (CTIA, TCPA). */
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
/** Without `YES`, which answers many other questions. */
const START: ReadonlySet<string> = new Set(['START', 'UNSTOP'])

/** Reads an incoming text: only one that is nothing but the keyword counts. */
export function optOutOf(text: string): 'stop' | 'start' | null {
  const word = text.trim().toUpperCase()
  if (STOP.has(word)) return 'stop'
  return START.has(word) ? 'start' : null
}
