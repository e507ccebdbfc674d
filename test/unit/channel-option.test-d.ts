import { email } from '../../src/core/channels/built-in.ts'
import { perOrganization } from '../../src/core/channels/channel-option.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'

const [one, two] = [recordingProvider({ name: 'one' }), recordingProvider({ name: 'two' })]
const providers = [one, two]
const weights = { one: 3, two: 1 }

// Everything that an option may be.
createNotifier({ channels: { email: one } })
createNotifier({ channels: { email: providers } })
createNotifier({ channels: { email: { providers } } })
createNotifier({ channels: { email: { providers, distribution: 'ordered' } } })
createNotifier({ channels: { email: { providers, distribution: 'weighted', weights } } })
createNotifier({ channels: { email: perOrganization(email, () => null) } })
createNotifier({
  channels: { email: perOrganization(email, (organizationId) => (organizationId === '' ? null : one)) },
})
createNotifier({
  channels: { email: perOrganization(email, async () => ({ providers, distribution: 'weighted', weights })) },
})
createNotifier({ channels: { email: perOrganization(email, async () => [one], { providers }) } })

// Weights that nobody would look at, and shares that nobody has given.
// @ts-expect-error weights without the distribution that reads them
createNotifier({ channels: { email: { providers, weights } } })
// @ts-expect-error weights beside an order
createNotifier({ channels: { email: { providers, distribution: 'ordered', weights } } })
// @ts-expect-error no weights
createNotifier({ channels: { email: { providers, distribution: 'weighted' } } })
// @ts-expect-error nothing to send with
createNotifier({ channels: { email: perOrganization(email, () => undefined) } })
