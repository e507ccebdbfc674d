import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { type Finding, failed, ok, warning } from './finding.ts'

/** `Date` has whole seconds, and an answer takes some time. */
const NOTICED_MS = 5_000
/** Providers refuse signatures and tokens that are some minutes off; a minute leaves no room. */
const WRONG_MS = 60_000

/** @param aheadMs how far the other clock is ahead of this machine's */
export function clockFinding(whose: string, aheadMs: number): Finding {
  const seconds = Math.round(Math.abs(aheadMs) / 1_000)
  if (Math.abs(aheadMs) < NOTICED_MS) return ok('clock', `agrees with ${whose}`)
  const message = `is ${seconds} s ${aheadMs > 0 ? 'behind' : 'ahead of'} ${whose}`
  const remedy =
    'Synchronize the clocks of this machine and of the other, such as with chrony or systemd-timesyncd.'
  return (Math.abs(aheadMs) < WRONG_MS ? warning : failed)('clock', message, remedy)
}

/** Runs `work`, and tells how far the clock of the closest HTTP server that answered is ahead. Null: none did. */
export async function comparingClocks<Answer>(
  work: () => Promise<Answer>,
): Promise<readonly [answer: Answer, aheadMs: number | null]> {
  const differences: number[] = []
  const seen = (message: unknown): void => {
    const { response } = message as { readonly response: IncomingMessage }
    const time = Date.parse(response.headers.date ?? '')
    if (!Number.isNaN(time)) differences.push(time + 500 - Date.now())
  }
  subscribe('http.client.response.finish', seen)
  try {
    const answer = await work()
    // Of several servers, one may be wrong itself.
    const [closest = null] = differences.sort((a, b) => Math.abs(a) - Math.abs(b))
    return [answer, closest]
  } finally {
    unsubscribe('http.client.response.finish', seen)
  }
}
