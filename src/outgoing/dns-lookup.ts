import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { type LookupAll, systemLookup } from './guarded-lookup.ts'

/** Each server is asked twice, the second time for longer: where there is one, less than the 5 s that a receiver has. */
const ASKING = { timeout: 1_500, tries: 2 }

/**
 * Resolves names by DNS alone. The system's resolver has two threads for all look-ups of a process: a few names whose
 * servers do not answer, which anybody can register, would keep them from everybody else's, providers and databases too.
 *
 * A name without a dot is none of DNS: only the system knows this machine and its neighbours by theirs.
 *
 * @param servers to ask. Default: the system's, as they are configured at that moment
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
