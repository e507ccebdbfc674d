/** The host and port of a URL. */
export interface Place {
  /** An IPv6 address without brackets. */
  readonly host: string
  readonly port: number
  readonly secure: boolean
}

export function placeOf({ protocol, hostname, port }: URL): Place {
  const secure = protocol === 'https:'
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (secure ? 443 : 80) : Number(port),
    secure,
  }
}
