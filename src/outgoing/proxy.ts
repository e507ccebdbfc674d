import { isIP } from 'node:net'
import { networksOf, rangeOf } from '../core/access/networks.ts'
import { invalidOption } from '../core/errors/invalid-option.ts'
import type { ProxyFor } from '../core/ports/outgoing.ts'
import { type Origin, originOf, withoutBrackets } from './origin.ts'
import { ConnectError } from './tunnel.ts'

/** An HTTP proxy and its exceptions. */
export interface ProxyOptions {
  /** `http://user:password@proxy.example.com:3128`, percent-encoded, or `https:` for TLS up to the proxy. */
  readonly url: string
  /**
   * Hosts to reach directly, as in `NO_PROXY`: `api.example.com`, `.example.com` with everything below, an address, a
   * CIDR block, `*`. Default: none.
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
function environmentProxy(): ProxyFor {
  if (!usesEnvironment()) return () => null
  const proxyIn = (name: string): URL | null => {
    const given = nameOf(name)
    return given === null ? null : urlOf(given, read(name))
  }
  const https = proxyIn('HTTPS_PROXY')
  const http = proxyIn('HTTP_PROXY')
  return except(read('NO_PROXY').split(','), ({ protocol }) => (protocol === 'https:' ? https : http))
}

/**
 * The proxy of the environment, which is read on first use: a notifier may choose another one before.
 *
 * @throws ConnectError from the function that it returns, for a variable that is no URL
 */
export function lateEnvironmentProxy(): ProxyFor {
  let proxyFor: ProxyFor | undefined
  return (url) => {
    try {
      proxyFor ??= environmentProxy()
    } catch (cause) {
      throw new ConnectError((cause as Error).message, { cause })
    }
    return proxyFor(url)
  }
}

/** The variable that names a proxy without effect. Null: none */
export function ignoredProxyVariable(): string | null {
  return usesEnvironment() ? null : nameOf('HTTPS_PROXY')
}

function usesEnvironment(): boolean {
  const { env, execArgv } = process
  const flags = [...execArgv, ...(env.NODE_OPTIONS ?? '').split(/\s+/)]
  return env.NODE_USE_ENV_PROXY === '1' || flags.includes('--use-env-proxy')
}

/** The spelling that is set; null: none. */
function nameOf(variable: string): string | null {
  return [variable.toLowerCase(), variable].find((name) => process.env[name]) ?? null
}

function read(variable: string): string {
  return process.env[nameOf(variable) ?? variable] ?? ''
}

function except(entries: readonly string[], choose: ProxyFor): ProxyFor {
  const exceptions = entries
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== '')
    .map(exceptionOf)
  return (url) => {
    const origin = originOf(url)
    return exceptions.some((matches) => matches(origin)) ? null : choose(url)
  }
}

function exceptionOf(entry: string): (origin: Origin) => boolean {
  if (entry === '*') return () => true
  const networks = networksOf([entry]) ?? rangeOf(entry)
  if (networks !== null) return ({ host }) => networks.has(host)
  const [, host = entry, portOnly] = /^(.+?)(?::(\d+))?$/.exec(entry) ?? []
  const name = withoutBrackets(host)
  const below = name.replace(/^\*?\.?/, '.')
  const matches = (given: string): boolean =>
    given === name || (name !== below.slice(1) && (given.endsWith(below) || `.${given}` === name))
  return (origin) => matches(origin.host) && (portOnly === undefined || Number(portOnly) === origin.port)
}

/** Whether an entry of `noProxy` can match a host: not a URL, a list in one text, nor a range that ends before it begins. */
export function canMatch(entry: string): boolean {
  const text = entry.trim()
  if (networksOf([text]) !== null || rangeOf(text) !== null) return true
  return !/[\s,/]/.test(text) && text.split('-').some((part) => isIP(part) === 0)
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
