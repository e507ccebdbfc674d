import { BlockList, isIP } from 'node:net'

/** A set of IPv4 and IPv6 networks. */
export interface Networks {
  /** An IPv4 address mapped into IPv6 is the IPv4 address. Text that is no address is in no network. */
  has(address: string): boolean
}

interface Network {
  readonly address: string
  readonly prefix: number
  readonly family: 'ipv4' | 'ipv6'
}

/**
 * Parses an address or a CIDR block.
 *
 * @returns null: it is neither
 */
export function parseNetwork(text: string): Network | null {
  const [, address = '', bits] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = isIP(address)
  const longest = version === 4 ? 32 : 128
  const prefix = bits === undefined ? longest : Number(bits)
  if (version === 0 || prefix > longest) return null
  return { address, prefix, family: familyOf(version) }
}

/**
 * Combines addresses and CIDR blocks.
 *
 * @returns null: one entry is neither
 */
export function networksOf(entries: readonly string[]): Networks | null {
  const list = new BlockList()
  for (const entry of entries) {
    const network = parseNetwork(entry)
    if (network === null) return null
    list.addSubnet(network.address, network.prefix, network.family)
  }
  return within(list)
}

/**
 * Parses a range of addresses: `10.0.0.1-10.0.0.9`.
 *
 * @returns null: it is none
 */
export function rangeOf(text: string): Networks | null {
  const [first = '', last = '', ...more] = text.split('-')
  if (isIP(first) === 0 || isIP(first) !== isIP(last) || more.length > 0) return null
  const list = new BlockList()
  try {
    list.addRange(first, last, familyOf(isIP(first)))
  } catch {
    return null // the last address is before the first
  }
  return within(list)
}

function within(list: BlockList): Networks {
  return { has: (address) => list.check(address, familyOf(isIP(address))) }
}

function familyOf(version: number): 'ipv4' | 'ipv6' {
  return version === 6 ? 'ipv6' : 'ipv4'
}
