import type { ProviderRegistry } from '../channels/provider-registry.ts'
import type { NotificationRepository } from '../ports/storage/notifications.ts'

/** The threads of messages that others answer. */
export interface Threads {
  /**
   * What the provider of an earlier message names its thread by. Null: unknown, or the message is gone. Rejects if the
   * storage is away.
   */
  of(organizationId: string, notificationId: string): Promise<string | null>
}

export function createThreads(
  notifications: Pick<NotificationRepository, 'get'>,
  registry: Pick<ProviderRegistry, 'warm' | 'of' | 'threadIdOf'>,
): Threads {
  return {
    async of(organizationId, notificationId) {
      const earlier = await notifications.get(notificationId)
      if (earlier === null || earlier.organizationId !== organizationId) return null
      const { channel, to, content, providerMessageId } = earlier
      await registry.warm(channel, organizationId)
      const providers = registry.of(channel, organizationId)?.providers ?? []
      // Before its first attempt: the one that will probably send it.
      const provider = providers.find(({ name }) => name === earlier.provider) ?? providers[0]
      if (provider === undefined) return null
      return registry.threadIdOf(provider, {
        notificationId,
        to,
        parts: content.parts as never,
        providerMessageId,
      })
    },
  }
}
