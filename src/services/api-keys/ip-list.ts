import { BlockList, isIP } from 'node:net'
import { NotifierError } from '../../domain/errors/notifier-error.ts'

interface Network {
  readonly address: string
  readonly prefix: number
  readonly family: 'ipv4' | 'ipv6'
}

/** The first and last address of each family. A block with both contains all addresses. */
const ENDS = [
  ['0.0.0.0', '255.255.255.255'],
  ['::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
] as const
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

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
  if (networks.length === 0) return true
  if (address === null) return false
  const plain = MAPPED.exec(address)?.[1] ?? address
  const version = isIP(plain)
  if (version === 0) return false
  return listOf(networks).check(plain, version === 4 ? 'ipv4' : 'ipv6')
}

/** Compiled lists by their text; keys of an organization often share one. */
const compiled = new Map<string, BlockList>()
const MAX_COMPILED = 1_000

function listOf(networks: readonly string[]): BlockList {
  const text = networks.join()
  const known = compiled.get(text)
  if (known !== undefined) return known
  const list = new BlockList()
  for (const entry of networks) {
    const network = parseNetwork(entry)
    if (network !== null) list.addSubnet(network.address, network.prefix, network.family)
  }
  if (compiled.size >= MAX_COMPILED) compiled.clear()
  compiled.set(text, list)
  return list
}

function parseNetwork(entry: string): Network | null {
  const [text = '', bits, ...rest] = entry.split('/')
  const mapped = MAPPED.exec(text)?.[1]
  const address = mapped ?? text
  const version = isIP(address)
  if (version === 0 || rest.length > 0 || address.includes('%')) return null
  const most = version === 4 ? 32 : 128
  if (bits === undefined) return { address, prefix: most, family: version === 4 ? 'ipv4' : 'ipv6' }
  if (!/^\d{1,3}$/.test(bits)) return null
  // The prefix of a mapped block counts from the start of the 128 bits.
  const prefix = Number(bits) - (mapped === undefined ? 0 : 96)
  return prefix < 0 || prefix > most ? null : { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' }
}
