import { type LookupAddress, lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { AddressGuard } from './address-guard.ts'

/** Resolves a name to all of its addresses. */
export type LookupAll = (host: string) => Promise<readonly LookupAddress[]>

/** The guard refused an address; nothing was sent to it. */
export class BlockedAddressError extends Error {
  override readonly name = 'BlockedAddressError'

  constructor() {
    super('The address is not a public one.')
  }
}

/**
 * A connection's `lookup` hook: what was judged is what is dialled, so that a name cannot resolve to one address
 * for the judgement and to another for the connection. One forbidden address among several refuses the name.
 *
 * Node calls no hook for literal addresses: those are judged by the URL, and again on the connected socket.
 */
export function guardedLookup(guard: AddressGuard, resolve: LookupAll): LookupFunction {
  return function lookupGuarded(host, options, callback) {
    resolve(host).then(
      (addresses) => {
        const [first] = addresses
        if (first === undefined) {
          callback(Object.assign(new Error('The name has no address.'), { code: 'ENOTFOUND' }), '')
        } else if (addresses.some(({ address }) => guard.blocks(address))) {
          callback(new BlockedAddressError(), '')
        } else if (options.all === true) {
          // Node asks for all since its connections try both families (autoSelectFamily, on by default).
          callback(null, [...addresses])
        } else {
          callback(null, first.address, first.family)
        }
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error('The look-up failed.'), ''),
    )
  }
}

/** The system's resolver: the hosts file counts too. */
export function systemLookup(host: string): Promise<readonly LookupAddress[]> {
  return new Promise((resolve, reject) => {
    lookup(host, { all: true }, (error, addresses) => (error === null ? resolve(addresses) : reject(error)))
  })
}
