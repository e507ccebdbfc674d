import type { OutgoingHttp } from '../ports/outgoing.ts'

const REACH_MS = 5_000

/** Asks whether something answers at the URL of a webhook endpoint. @returns the fault; null: it answers */
export async function reach(
  outgoing: OutgoingHttp,
  organizationId: string,
  url: string,
): Promise<string | null> {
  const result = await outgoing.head({ organizationId, url, headers: {}, timeoutMs: REACH_MS })
  return result.kind === 'failed' ? result.message : null
}
