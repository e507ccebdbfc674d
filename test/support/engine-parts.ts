import { memoryRateLimiter } from '../../src/defaults/rate-limiter/memory-rate-limiter.ts'
import { DEFAULT_BOUNDS } from '../../src/domain/bounds.ts'
import { NO_TRACKING } from '../../src/domain/track-html.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { Provider } from '../../src/ports/provider.ts'
import { resolveCategories } from '../../src/services/categories/code-categories.ts'
import { resolveChannels } from '../../src/services/channels/channel-option.ts'
import { createProviderRegistry } from '../../src/services/channels/provider-registry.ts'
import type { EngineOptions } from '../../src/services/delivery/engine.ts'
import { createLinkSigner } from '../../src/services/links/link-signer.ts'
import { createLinks } from '../../src/services/links/links.ts'
import { type Consent, createConsent } from '../../src/services/preferences/consent.ts'
import { createRecordStores } from '../../src/services/records/record-stores.ts'
import { KINDS } from './kinds.ts'

/** What an engine needs for one provider that serves all. */
export function engineParts(
  channel: Provider,
  clock: Clock,
): Pick<
  EngineOptions,
  'registry' | 'links' | 'consent' | 'tracking' | 'limiter' | 'localLimiter' | 'maxPauseMs' | 'queue' | 'tell'
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
    links: createLinks(undefined, () => createLinkSigner([]), DEFAULT_BOUNDS),
    consent: noPreferences(clock),
    tracking: async () => NO_TRACKING,
    limiter: memoryRateLimiter({ clock }),
    localLimiter: memoryRateLimiter({ clock }),
    maxPauseMs: 3_600_000,
    queue: null,
    tell() {},
  }
}

/** Of organizations that have no preferences and no categories of their own. */
function noPreferences(clock: Clock): Consent {
  const stores = createRecordStores({} as never, () => null)
  return {
    ...createConsent(stores, { categories: resolveCategories(undefined, KINDS), clock }),
    inUse: { of: () => false, mark() {} },
  }
}
