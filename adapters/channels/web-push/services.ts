/** `service`: the host of a known service. `below`: a subdomain, which need not exist. `elsewhere`: any other host. */
export type HostClass = 'service' | 'below' | 'elsewhere'

/** Format of `pushServices`: a host, optionally with the start of its subscriptions' paths. */
export const PUSH_SERVICE: RegExp = /^(?:\*\.)?[a-z0-9.-]+(?:\/\S*)?$/

/**
 * Chrome, Firefox, Safari and Edge. Their hosts serve more than subscriptions, so answers on other paths say nothing
 * about our key.
 */
export const PUSH_SERVICES: readonly string[] = [
  'fcm.googleapis.com/fcm/send/',
  'fcm.googleapis.com/wp/',
  'updates.push.services.mozilla.com/wpush/',
  'web.push.apple.com/',
  '*.notify.windows.com/w/',
  '*.notify.windows.com/?token=',
]

/** Adds the subscription paths to a bare host of a known push service. */
export function withPaths(services: readonly string[]): readonly string[] {
  return services.flatMap((service) => {
    const known = service.includes('/')
      ? []
      : PUSH_SERVICES.filter((one) => covers(service, splitService(one).host))
    return known.length > 0 ? known : [service]
  })
}

/** Classifies an endpoint. Users choose it, so every part that could differ from a real subscription is checked. */
export function classifyHost(services: readonly string[], endpoint: string): HostClass {
  const { hostname, port, protocol, pathname, search } = new URL(endpoint)
  // Only development accepts `http:`, with services on any port.
  if (port !== '' && protocol === 'https:') return 'elsewhere'
  const path = pathname + search
  const hosts = services
    .map(splitService)
    .filter(({ host, start }) => covers(host, hostname) && (start === '' || goesOn(path, start)))
    .map(({ host }) => host)
  if (hosts.length === 0) return 'elsewhere'
  return hosts.includes(hostname) ? 'service' : 'below'
}

function splitService(service: string): { readonly host: string; readonly start: string } {
  const slash = service.indexOf('/')
  return slash < 0
    ? { host: service, start: '' }
    : { host: service.slice(0, slash), start: service.slice(slash) }
}

function covers(host: string, hostname: string): boolean {
  return hostname === host || hostname.endsWith(`.${host.replace(/^\*\./, '')}`)
}

/** Escapes before the query could mean another path to the server (`..%2f`). */
function goesOn(path: string, start: string): boolean {
  return path.startsWith(start) && path.length > start.length && !path.replace(/\?.*/, '').includes('%')
}
