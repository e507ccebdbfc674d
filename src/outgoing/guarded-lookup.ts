import { type LookupAddress, lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { AddressGuard } from './address-guard.ts'

/** Resolves a name to all of its addresses. */
export type LookupAll = (host: string) => Promise<readonly LookupAddress[]>

/** The guard refused an address. Nothing was sent. */
export class BlockedAddressError extends Error {
  override readonly name = 'BlockedAddressError'

  constructor() {
    super('The address is not public.')
  }
}

/**
 * A connection's `lookup` hook: it connects to the addresses it has checked, so that a name cannot resolve to one
 * address for the check and to another for the connection. One forbidden address refuses the name.
 *
 * Node calls no hook for literal addresses: those are checked in the URL and on the connected socket.
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
          // Node asks for all addresses, because connections try both families (autoSelectFamily, on by default).
          callback(null, [...addresses])
        } else {
          callback(null, first.address, first.family)
        }
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error('The look-up failed.'), ''),
    )
  }
}

/** The system's resolver, including the hosts file. */
export function systemLookup(host: string): Promise<readonly LookupAddress[]> {
  return new Promise((resolve, reject) => {
    lookup(host, { all: true }, (error, addresses) => (error === null ? resolve(addresses) : reject(error)))
  })
}
