import { BlockList, isIP } from 'node:net'
import { NotifierError } from '../domain/errors/notifier-error.ts'

/** Checks addresses that users choose. */
export interface AddressGuard {
  /** True: not an address on the public internet, or not an address at all. */
  blocks(address: string): boolean
}

/** The IANA special-purpose registry except for global unicast, and services of cloud providers on public addresses. */
const DENIED_IPV4 = [
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
]

/** Global unicast only. All forms that embed an IPv4 address, except mapped ones, are outside or denied. */
const OPEN_IPV6 = ['2000::/3']
const DENIED_IPV6 = [
  '2001::/23',
  '2001:db8::/32',
  // 6to4 embeds any IPv4 address, also private ones.
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
]

const deniedIpv4 = listOf(DENIED_IPV4)
const deniedIpv6 = listOf(DENIED_IPV6)
const openIpv6 = listOf(OPEN_IPV6)

/**
 * Creates a guard.
 *
 * @param allow CIDR blocks to let through: receivers on this machine during development
 * @throws NotifierError `invalid_configuration` for an invalid block
 */
export function addressGuard(allow: readonly string[] = []): AddressGuard {
  const allowed = listOf(allow)
  return {
    blocks(address) {
      const plain = unmapped(address)
      // A BlockList returns false for invalid addresses: a deny list alone would let them through.
      const family = isIP(plain)
      if (family === 4) return !allowed.check(plain, 'ipv4') && deniedIpv4.check(plain, 'ipv4')
      if (family !== 6 || plain.includes('%')) return true
      if (allowed.check(plain, 'ipv6')) return false
      return !openIpv6.check(plain, 'ipv6') || deniedIpv6.check(plain, 'ipv6')
    },
  }
}

/** All spellings of `::ffff:a.b.c.d` are the IPv4 address. */
function unmapped(address: string): string {
  if (isIP(address) !== 6 || address.includes('%')) return address
  const host = new URL(`http://[${address}]`).hostname
  const groups = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(host)
  if (groups === null) return address
  const high = Number.parseInt(groups[1] ?? '', 16)
  const low = Number.parseInt(groups[2] ?? '', 16)
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

function listOf(blocks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const block of blocks) addBlock(list, block)
  return list
}

function addBlock(list: BlockList, block: string): void {
  const [address = '', prefix, ...rest] = block.split('/')
  const family = isIP(address)
  const longest = family === 4 ? 32 : 128
  const bits = prefix === undefined ? longest : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN
  if (family === 0 || address.includes('%') || rest.length > 0 || !(bits <= longest)) {
    throw new NotifierError('invalid_configuration', {
      message: `"allow": "${block}" is not an address block such as 127.0.0.0/8 or ::1/128.`,
      details: { option: 'allow' },
    })
  }
  list.addSubnet(address, bits, family === 4 ? 'ipv4' : 'ipv6')
}
