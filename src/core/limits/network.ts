import { isIP } from 'node:net'

/** IPv4-mapped addresses (RFC 4291 2.5.5.2) and NAT64 addresses (RFC 6052 2.1). */
const IPV4_WITHIN: ReadonlySet<string> = new Set(['0,0,0,0,0,ffff', '64,ff9b,0,0,0,0'])

/**
 * The network that counts as one client: an IPv4 address, or the first 64 bits of an IPv6 address, which one client
 * owns entirely. Other text is unchanged.
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

/** The eight groups of an address in URL form: lower case, no leading zeros, the longest run of zeros omitted. */
function groupsOf(host: string): string[] {
  const [head = [], tail = []] = host
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''))
  return [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
}
