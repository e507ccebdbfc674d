import { email } from '../../src/core/channels/built-in.ts'
import type { ChannelProviders } from '../../src/core/channels/channel-option.ts'
import { perOrganization } from '../../src/core/channels/channel-option.ts'
import type { EmailKind } from '../../src/core/channels/email.ts'
import type { Provider } from '../../src/core/ports/provider.ts'
import { organizationKind } from '../../src/core/tenancy/organization.ts'
import type { Notifier } from '../../src/notifier.ts'
import type { NotifierOptions } from '../../src/options.ts'
import { type RecordingProvider, recordingProvider } from '../../src/testing/recording-provider.ts'
import { mail, type NotifierWorld, notifierWorld } from './notifier-world.ts'

export const MINUTE = 60_000

/** One notifier whose e-mail providers are made for each organization. */
export interface OrganizationWorld extends NotifierWorld {
  readonly notifier: Notifier
  /** The latest provider of each organization. */
  readonly made: ReadonlyMap<string, RecordingProvider>
  /** The organizations whose providers were made, in order. */
  readonly asked: string[]
  /** The organizations whose providers were closed, in order. */
  readonly closed: string[]
  send(organizationId: string, change?: object): Promise<string>
}

export const ORGANIZATIONS = ['org_a', 'org_b', 'org_c']

/** @param make makes the providers of an organization; `channel` is a recording one */
export async function organizationWorld(
  make: (organizationId: string, channel: () => RecordingProvider) => unknown = (_id, channel) => channel(),
  options: Partial<NotifierOptions> & { readonly shared?: Provider; readonly world?: NotifierWorld } = {},
): Promise<OrganizationWorld> {
  const { shared, world = notifierWorld(), ...others } = options
  const made = new Map<string, RecordingProvider>()
  const asked: string[] = []
  const closed: string[] = []
  const providersOf = (organizationId: string) => {
    asked.push(organizationId)
    return make(organizationId, () => {
      const close = (): void => void closed.push(organizationId)
      const channel = recordingProvider({ name: 'own', maxConcurrent: 5, close })
      made.set(organizationId, channel)
      return channel
    }) as ChannelProviders<EmailKind> | null
  }
  const notifier = await world.start({
    channels: { email: perOrganization(email, providersOf, shared as Provider<EmailKind> | undefined) },
    plans: {},
    ...others,
  })
  for (const id of ORGANIZATIONS) {
    const [stored] = await world.storage.records.get(organizationKind, [{ id }])
    if (stored === null) await notifier.organizations.create({ id, name: id })
  }
  return {
    ...world,
    notifier,
    made,
    asked,
    closed,
    send: async (organizationId, change = {}) =>
      (await notifier.organization(organizationId).send({ ...mail, ...change })).id,
  }
}

/** Makes no provider. */
export const unavailable = () => Promise.reject(new Error('The vault is sealed.'))
