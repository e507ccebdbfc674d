import { isIPv6 } from 'node:net'

/** The host and port of a URL. */
export interface Origin {
  /** An IPv6 address without brackets. */
  readonly host: string
  readonly port: number
  readonly secure: boolean
}

export function originOf({ protocol, hostname, port }: URL): Origin {
  const secure = protocol === 'https:'
  return {
    host: withoutBrackets(hostname),
    port: port === '' ? (secure ? 443 : 80) : Number(port),
    secure,
  }
}

/** `host:port` as in a URL, an IPv6 address in brackets. */
export function authorityOf({ host, port }: Origin): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`
}

/** A URL's host for `node:net`. */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, '')
}
