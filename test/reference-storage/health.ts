import type { EndpointHealth } from '../../src/domain/endpoint-health.ts'

/** Before the first attempt. */
export const NEW_HEALTH: EndpointHealth = { failingSince: null, failingPublished: false, sequence: 0 }

/** After a new address or a manual enable. The sequence continues. */
export function healed({ sequence }: EndpointHealth): EndpointHealth {
  return { ...NEW_HEALTH, sequence }
}
