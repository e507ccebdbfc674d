import { isIP } from 'node:net'
import { networksOf } from '../core/access/networks.ts'

/** Tests whether an address, or `unix`, belongs to a set of networks. */
export type AddressMatcher = (address: string) => boolean

/** The peer of a Unix socket, which has no address. */
export const UNIX_PEER = 'unix'

const PRESETS: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

/** True for a canonical loopback address. */
export function isLoopback(address: string): boolean {
  return address === '::1' || (address.startsWith('127.') && !address.includes(':'))
}

/**
 * Compiles addresses, CIDR blocks and the names `loopback`, `linklocal`, `uniquelocal` and `unix` to one matcher.
 *
 * @returns null if an entry is invalid
 */
export function compileNetworks(entries: readonly string[]): AddressMatcher | null {
  const unix = entries.includes(UNIX_PEER)
  const networks = networksOf(
    entries
      .filter((entry) => entry !== UNIX_PEER)
      .flatMap((entry) => (Object.hasOwn(PRESETS, entry) ? (PRESETS[entry] ?? []) : entry)),
  )
  return networks && ((address) => (address === UNIX_PEER ? unix : networks.has(address)))
}

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i
const WITH_PORT = /^(?:\[([^\]]+)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/

/**
 * The canonical spelling of an address: no port, brackets or zone; IPv4-mapped IPv6 as IPv4.
 *
 * @returns null for anything but an IP address
 */
export function canonicalAddress(text: string): string | null {
  const match = WITH_PORT.exec(text)
  let address = match?.[1] ?? match?.[2] ?? text
  const zone = address.indexOf('%')
  if (zone !== -1) address = address.slice(0, zone)
  if (isIP(address) === 0) return null
  return MAPPED.exec(address)?.[1] ?? address
}
