import { isIP } from 'node:net'

/** IPv4-mapped addresses (RFC 4291 2.5.5.2), and those that a NAT64 makes of IPv4 ones (RFC 6052 2.1). */
const IPV4_WITHIN: ReadonlySet<string> = new Set(['0,0,0,0,0,ffff', '64,ff9b,0,0,0,0'])

/**
 * What is counted as one client: an IPv4 address, or the first 64 bits of an IPv6 address in one spelling. Whoever has
 * one IPv6 address has all that share those bits. What is no address stays as it is.
 */
export function networkOf(address: string): string {
  const [plain = ''] = address.split('%', 1)
  if (isIP(plain) !== 6) return address
  const groups = groupsOf(new URL(`http://[${plain}]`).hostname.slice(1, -1))
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16))
  if (IPV4_WITHIN.has(groups.slice(0, 6).join())) {
    return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  }
  return groups.slice(0, 4).join(':')
}

/** All eight of an address as a URL shows it: lower case, no leading zeros, the longest row of zeros left out. */
function groupsOf(host: string): string[] {
  const [head = [], tail = []] = host
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''))
  return [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
}
