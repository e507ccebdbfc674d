import { NotifierError } from '../errors/notifier-error.ts'
import { type Networks, networksOf, parseNetwork } from './networks.ts'

/** The first and last address of each family. A block with both contains all addresses. */
const ENDS = [
  ['0.0.0.0', '255.255.255.255'],
  ['::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
] as const

/**
 * Checks the entries of a key's list: addresses or CIDR blocks, IPv4 or IPv6.
 *
 * @returns each as a CIDR block
 * @throws NotifierError `invalid_parameter`, which names the entry. A block with every address of a family is refused:
 *   it looks like a restriction and is none.
 */
export function canonicalNetworks(entries: readonly string[]): string[] {
  return entries.map((entry, index) => {
    const network = parseNetwork(entry)
    const block = network === null ? null : `${network.address}/${network.prefix}`
    if (block === null || ENDS.some((ends) => ends.every((end) => isAllowedAddress([block], end)))) {
      throw new NotifierError('invalid_parameter', {
        message: `"allowedIps.${index}" must be an IP address or a CIDR block such as 203.0.113.0/24, and not all addresses.`,
        details: { field: `allowedIps.${index}` },
      })
    }
    return block
  })
}

/** Whether a list contains an address. An empty list contains every address; an unknown address is in no other list. */
export function isAllowedAddress(networks: readonly string[], address: string | null): boolean {
  return networks.length === 0 || (address !== null && listOf(networks).has(address))
}

/** Lists by their text, for the next request of the key: 100 entries take 0.5 ms to compile. */
const compiled = new Map<string, Networks>()
const MAX_COMPILED = 1_000

function listOf(networks: readonly string[]): Networks {
  const text = networks.join()
  let list = compiled.get(text)
  if (list === undefined) {
    list = networksOf(networks) ?? { has: () => false }
    if (compiled.size >= MAX_COMPILED) compiled.clear()
    compiled.set(text, list)
  }
  return list
}
