import { BlockList, isIP } from 'node:net'
import { networksOf } from '../addresses/networks.ts'
import { invalidOption } from '../domain/errors/invalid-option.ts'
import type { ProxyFor } from '../ports/outgoing.ts'
import { type Place, placeOf } from './place.ts'

/** An HTTP proxy and its exceptions. */
export interface ProxyOptions {
  /**
   * `http://proxy.example.com:3128`, or `https:` for TLS up to the proxy; with `user:password@` if it requires them,
   * percent-encoded.
   */
  readonly url: string
  /**
   * Hosts to reach directly, as in `NO_PROXY`: `api.example.com`, `.example.com` with everything below, an address, a
   * CIDR block; a host may have a port. `*`: all.
   *
   * @default none
   */
  readonly noProxy?: readonly string[] | undefined
}

/**
 * The proxy of the option, or else of the environment.
 *
 * @throws NotifierError `invalid_configuration`, without the URL, which may contain a password
 */
export function proxyFrom(option: string | ProxyOptions | undefined): ProxyFor {
  if (option === undefined) return environmentProxy()
  const { url, noProxy = [] } = typeof option === 'string' ? { url: option } : option
  const proxy = urlOf('proxy', url)
  return except(noProxy, () => proxy)
}

/**
 * The proxy that Node.js itself would use: with `NODE_USE_ENV_PROXY=1` or `--use-env-proxy` that of `HTTPS_PROXY` and
 * `HTTP_PROXY`, without the hosts in `NO_PROXY`.
 *
 * @throws NotifierError `invalid_configuration` for a variable that is no URL
 */
export function environmentProxy(): ProxyFor {
  if (!usesEnvironment()) return () => null
  const proxyIn = (name: string): URL | null => (read(name) === '' ? null : urlOf(name, read(name)))
  const https = proxyIn('HTTPS_PROXY')
  const http = proxyIn('HTTP_PROXY')
  return except(read('NO_PROXY').split(','), ({ protocol }) => (protocol === 'https:' ? https : http))
}

/** The variable that names a proxy without effect. Null: none */
export function ignoredProxyVariable(): string | null {
  return usesEnvironment() || read('HTTPS_PROXY') === '' ? null : 'HTTPS_PROXY'
}

function usesEnvironment(): boolean {
  const { env, execArgv } = process
  const flags = [...execArgv, ...(env.NODE_OPTIONS ?? '').split(/\s+/)]
  return env.NODE_USE_ENV_PROXY === '1' || flags.includes('--use-env-proxy')
}

function read(name: string): string {
  return process.env[name.toLowerCase()] || process.env[name] || ''
}

function except(entries: readonly string[], choose: ProxyFor): ProxyFor {
  const exceptions = entries
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== '')
    .map(exceptionOf)
  return (url) => {
    const place = placeOf(url)
    return exceptions.some((matches) => matches(place)) ? null : choose(url)
  }
}

function exceptionOf(entry: string): (place: Place) => boolean {
  if (entry === '*') return () => true
  const networks = networksOf([entry]) ?? rangeOf(entry)
  if (networks !== null) return ({ host }) => networks.has(host)
  const [, host = entry, portOnly] = /^(.+?)(?::(\d+))?$/.exec(entry) ?? []
  const name = host.replace(/^\[|\]$/g, '')
  const below = name.replace(/^\*?\.?/, '.')
  const matches = (given: string): boolean =>
    given === name || (name !== below.slice(1) && (given.endsWith(below) || `.${given}` === name))
  return (place) => matches(place.host) && (portOnly === undefined || Number(portOnly) === place.port)
}

/** `10.0.0.1-10.0.0.9` */
function rangeOf(entry: string): { has(address: string): boolean } | null {
  const [first = '', last = '', ...more] = entry.split('-')
  if (isIP(first) === 0 || isIP(first) !== isIP(last) || more.length > 0) return null
  const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4')
  const list = new BlockList()
  list.addRange(first, last, familyOf(first))
  return { has: (address) => isIP(address) !== 0 && list.check(address, familyOf(address)) }
}

/** Completes the sentence about an option with an invalid proxy. */
export const PROXY_RULE =
  'must be the URL of an HTTP proxy, such as http://user:password@proxy.example.com:3128, percent-encoded'

/** @returns null: no URL of an HTTP proxy */
export function proxyUrl(text: string): URL | null {
  if (typeof text !== 'string' || !URL.canParse(text)) return null
  const url = new URL(text)
  return /^https?:$/.test(url.protocol) && isDecodable(`${url.username}:${url.password}`) ? url : null
}

function urlOf(option: string, text: string): URL {
  const url = proxyUrl(text)
  if (url === null) throw invalidOption(option, `"${option}" ${PROXY_RULE}.`)
  return url
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
