import { type Networks, networksOf, parseNetwork } from '../core/access/networks.ts'
import { invalidOption } from '../core/errors/invalid-option.ts'

/** Checks addresses that users choose. */
export interface AddressGuard {
  /** True: not an address on the public internet, or not an address at all. */
  blocks(address: string): boolean
}

/** Global unicast. All IPv6 forms that embed an IPv4 address, except mapped ones, are outside or denied. */
const open = listOf(['0.0.0.0/0', '2000::/3'])

/** The IANA special-purpose registry, and services of cloud providers on public addresses. */
const denied = listOf([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Azure's wire server, reachable from every machine there.
  '168.63.129.16/32',
  '2001::/23',
  '2001:db8::/32',
  // 6to4 embeds any IPv4 address, also private ones.
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
])

/**
 * Creates a guard.
 *
 * @param allow CIDR blocks to let through: receivers on this machine during development
 * @throws NotifierError `invalid_configuration` for an invalid block
 */
export function addressGuard(allow: readonly string[] = []): AddressGuard {
  const allowed = listOf(allow)
  return {
    // An address with a zone is local to a link, regardless of its digits.
    blocks: (address) =>
      address.includes('%') || (!allowed.has(address) && (!open.has(address) || denied.has(address))),
  }
}

function listOf(blocks: readonly string[]): Networks {
  const networks = networksOf(blocks)
  if (networks !== null) return networks
  const wrong = blocks.find((block) => parseNetwork(block) === null)
  throw invalidOption('allow', `"allow": "${wrong}" is not an address block such as 127.0.0.0/8 or ::1/128.`)
}
