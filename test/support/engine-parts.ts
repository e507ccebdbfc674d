import { memoryRateLimiter } from '../../src/defaults/rate-limiter/memory-rate-limiter.ts'
import { NO_TRACKING } from '../../src/domain/track-html.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { Provider } from '../../src/ports/provider.ts'
import { resolveChannels } from '../../src/services/channels/channel-option.ts'
import { createProviderRegistry } from '../../src/services/channels/provider-registry.ts'
import type { EngineOptions } from '../../src/services/delivery/engine.ts'
import { createLinkSigner } from '../../src/services/links/link-signer.ts'
import { createLinks } from '../../src/services/links/links.ts'
import { KINDS } from './kinds.ts'

/** What an engine needs for one provider that serves all. */
export function engineParts(
  channel: Provider,
  clock: Clock,
): Pick<
  EngineOptions,
  'registry' | 'links' | 'tracking' | 'limiter' | 'localLimiter' | 'maxPauseMs' | 'queue' | 'tell'
> {
  const sources = resolveChannels({ email: channel }, KINDS.known)
  return {
    registry: createProviderRegistry({ sources, kinds: KINDS, clock, leaseMs: 60_000, onError() {} }),
    links: createLinks(undefined, () => createLinkSigner([])),
    tracking: async () => NO_TRACKING,
    limiter: memoryRateLimiter({ clock }),
    localLimiter: memoryRateLimiter({ clock }),
    maxPauseMs: 3_600_000,
    queue: null,
    tell() {},
  }
}
