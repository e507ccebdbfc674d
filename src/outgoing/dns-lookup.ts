import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { type LookupAll, systemLookup } from './guarded-lookup.ts'

/** Two tries per server, the second longer; with one server less than a receiver's 5 s. */
const ASKING = { timeout: 1_500, tries: 2 }

/**
 * Resolves names by DNS only. The system's resolver has two threads for all lookups of a process: a few names with
 * silent servers, which anyone can register, would block the lookups of providers and databases.
 *
 * A name without a dot is not in DNS: only the system knows this machine and its neighbours.
 *
 * @param servers to query. Default: the system's current configuration
 */
export function dnsLookup(servers?: readonly string[]): LookupAll {
  return async (host) => {
    if (!host.replace(/\.$/, '').includes('.')) return systemLookup(host)
    const resolver = new Resolver(ASKING)
    if (servers !== undefined) resolver.setServers(servers)
    const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const addresses = [...addressesOf(four, 4), ...addressesOf(six, 6)]
    if (addresses.length === 0 && four.status === 'rejected') throw four.reason
    return addresses
  }
}

function addressesOf(answer: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : []
}
