/** Begins the ids of listeners; those of other endpoints have no dot. */
const PREFIX = 'wh_listener.'

/** The range of the ids of listeners, which are also the lanes of their jobs. */
export const LISTENER_IDS: { readonly from: string; readonly until: string } = {
  from: PREFIX,
  until: 'wh_listener/',
}

/**
 * Whether an endpoint is a listener of the application instead of an address.
 *
 * @example
 * isListener('wh_listener.mirror') // true
 */
export function isListener(endpointId: string): boolean {
  return endpointId.startsWith(PREFIX)
}
