import { resolveChannels } from '../../src/core/channels/channel-option.ts'
import { createProviderRegistry } from '../../src/core/channels/provider-registry.ts'
import type { EngineOptions } from '../../src/core/delivery/engine.ts'
import { memoryRateLimiter } from '../../src/core/limits/memory-rate-limiter.ts'
import { createLinkSigner } from '../../src/core/links/link-signer.ts'
import { createLinks } from '../../src/core/links/links.ts'
import type { Clock } from '../../src/core/ports/clock.ts'
import type { Provider } from '../../src/core/ports/provider.ts'
import { createRecordStores } from '../../src/core/records/record-stores.ts'
import { resolveCategories } from '../../src/features/categories/options.ts'
import { type Consent, createConsent } from '../../src/features/preferences/consent.ts'
import { KINDS } from './kinds.ts'

/** What an engine needs for one provider that serves all. */
export function engineParts(
  channel: Provider,
  clock: Clock,
): Pick<
  EngineOptions,
  'registry' | 'links' | 'consent' | 'tracker' | 'limiter' | 'localLimiter' | 'maxPauseMs' | 'queue' | 'tell'
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
    links: createLinks(undefined, () => createLinkSigner([])),
    consent: noPreferences(clock),
    tracker: null,
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
