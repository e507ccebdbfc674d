import type { LimitCheck, WindowCheck } from '../../ports/rate-limiter.ts'
import type { ConfiguredProvider } from '../providers.ts'

/** The names under which processes share what they know of one provider instance. */
export interface ProviderKeys {
  /** It is paused. */
  readonly pause: string
  /** The pause is over, and it has to prove that it works: paused for longer than {@link pause}. */
  readonly probation: string
  /** It has proved it: paused for longer than {@link probation}. */
  readonly proof: string
  /** Who may try it. */
  readonly probe: string
  readonly pace: string
}

/**
 * Up to their first colon the keys of an organization's own instances are that organization's, those of a shared
 * instance its own.
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
 * How long a permission to hand a message over is good for. The window is longer by as much, so that of the messages
 * that leave in any second no more than `maxPerSecond` can have been permitted, whenever in this time each left.
 */
export const GRANT_MS = 50

const SECOND = 1_000

/** At most `maxPerSecond` in any second; for a fraction, one in the time that it makes. */
export function paceCheck(key: string, maxPerSecond: number, cost: number): WindowCheck {
  const limit = Math.max(1, maxPerSecond)
  const windowMs = Math.ceil(maxPerSecond < 1 ? SECOND / maxPerSecond : SECOND) + GRANT_MS
  return {
    kind: 'window',
    // A pace that was changed counts anew: units of the old one would expire at the wrong time.
    key: `${key}.${windowMs}`,
    limit,
    windowMs,
    burst: limit,
    burstMs: 0,
    cost,
    partial: true,
  }
}
