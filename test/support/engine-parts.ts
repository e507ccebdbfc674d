import { resolveChannels } from '../../src/core/channels/channel-option.ts'
import { createProviderRegistry } from '../../src/core/channels/provider-registry.ts'
import type { EngineOptions } from '../../src/core/delivery/engine.ts'
import { createGate } from '../../src/core/gate/gate.ts'
import { memoryRateLimiter } from '../../src/core/limits/memory-rate-limiter.ts'
import { createLinkSigner } from '../../src/core/links/link-signer.ts'
import { createLinks } from '../../src/core/links/links.ts'
import { NO_CATEGORIES } from '../../src/core/notification/category-source.ts'
import type { Clock } from '../../src/core/ports/clock.ts'
import type { Provider } from '../../src/core/ports/provider.ts'
import { judgeBySuppressions } from '../../src/features/suppressions/judge.ts'
import { KINDS } from './kinds.ts'
import { HASHES } from './person-hashes.ts'

/** What an engine needs for one provider that serves all. */
export function engineParts(
  channel: Provider,
  clock: Clock,
): Pick<
  EngineOptions,
  | 'registry'
  | 'links'
  | 'hashes'
  | 'gate'
  | 'categories'
  | 'tracker'
  | 'limiter'
  | 'localLimiter'
  | 'maxPauseMs'
  | 'queue'
  | 'eventListeners'
  | 'tell'
> {
  const sources = resolveChannels({ email: channel }, KINDS.known)
  return {
    registry: createProviderRegistry({
      sources,
      kinds: KINDS,
      clock,
      leaseMs: 60_000,
      proxyFor: () => null,
      onError() {},
    }),
    links: createLinks(undefined, () => createLinkSigner([]), HASHES),
    hashes: HASHES,
    tracker: undefined,
    gate: createGate([{ name: 'suppressions', judge: judgeBySuppressions(HASHES) }]),
    categories: NO_CATEGORIES,
    limiter: memoryRateLimiter({ clock }),
    localLimiter: memoryRateLimiter({ clock }),
    maxPauseMs: 3_600_000,
    queue: null,
    eventListeners: new Map(),
    tell() {},
  }
}
