import type { ConfiguredProvider } from '../channels/providers.ts'
import type { LimitCheck, WindowCheck } from '../ports/rate-limiter.ts'

/** The limiter keys by which processes share the state of a provider instance. */
export interface ProviderKeys {
  /** The pause. */
  readonly pause: string
  /** The probation after a pause: paused for longer than {@link pause}. */
  readonly probation: string
  /** The proof that it works: paused for longer than {@link probation}. */
  readonly proof: string
  /** The slot of the process that probes. */
  readonly probe: string
  readonly pace: string
}

/**
 * Up to the first colon, keys of an organization's instances name the organization, and keys of a shared instance the
 * instance.
 */
export function providerKeys({ organizationId, channel, name }: ConfiguredProvider): ProviderKeys {
  const prefix =
    organizationId === null
      ? `provider.${channel}.${name}:provider`
      : `${organizationId}:provider.${channel}.${name}`
  return {
    pause: `${prefix}.pause`,
    probation: `${prefix}.probation`,
    proof: `${prefix}.proof`,
    probe: `${prefix}.probe`,
    pace: `${prefix}.pace`,
  }
}

export function pauseCheck(key: string): LimitCheck {
  return { kind: 'pause', key }
}

/**
 * Validity of a permit. The window is longer by the same time, so that the messages that leave in any second cannot
 * exceed `maxPerSecond`, whenever each left within its permit.
 */
export const GRANT_MS = 50

const SECOND = 1_000

/** At most `maxPerSecond` in any second; for a fraction, one in the corresponding time. */
export function paceCheck(key: string, maxPerSecond: number, cost: number): WindowCheck {
  const limit = Math.max(1, maxPerSecond)
  const windowMs = Math.ceil(maxPerSecond < 1 ? SECOND / maxPerSecond : SECOND) + GRANT_MS
  return {
    kind: 'window',
    // A changed rate needs a new count: units of the old one would expire at the wrong time.
    key: `${key}.${windowMs}`,
    limit,
    windowMs,
    burst: limit,
    burstMs: 0,
    cost,
    partial: true,
  }
}
