import { createHash } from 'node:crypto'
import { definePlugin, go, onDue, type PluginRecords, route, skip } from 'carillon/plugin-kit'
import * as z from 'zod'

interface Reaction {
  readonly notificationId: string
  readonly emoji: string
  readonly channel: string
  readonly to: string
  readonly until: number
}

const reactions: PluginRecords<Reaction> = {
  name: 'reactions',
  version: 1,
  due: ({ until }) => until,
  concerns: ({ channel, to }) => ({ addresses: [{ channel, to }] }),
}

/** One reaction for each address: the id is that of the address. */
const idOf = (channel: string, to: string) => createHash('sha256').update(`${channel} ${to}`).digest('hex')

const reaction = z.object({ id: z.string(), notificationId: z.string(), emoji: z.string(), until: z.number() })

export const reacting = ({ muteMs = 3_600_000 } = {}) =>
  definePlugin({
    name: 'reactions',
    records: [reactions],
    errors: {
      not_found: [404, 'There is no such reaction.', 'List the reactions of the organization.'],
      already_exists: [409, 'The recipient has reacted before.', 'Remove the earlier reaction first.'],
    },
    setup({ records, now, error, notification, addressOf }) {
      const store = records(reactions)
      const api = {
        async add(organizationId: string, notificationId: string, emoji: string) {
          const { channel, to: given } = await notification(organizationId, notificationId)
          const to = addressOf(channel, given)
          const value = { notificationId, emoji, channel, to, until: now() + muteMs }
          const added = await store.insert(organizationId, idOf(channel, to), value)
          if (added === 'taken') throw error('already_exists')
          return { id: added.id, notificationId, emoji, until: value.until }
        },
        async list(organizationId: string) {
          const { items } = await store.list(organizationId, { limit: 100 })
          return items.map(({ id, value: { notificationId, emoji, until } }) => ({ id, notificationId, emoji, until }))
        },
        async remove(organizationId: string, id: string) {
          if (!(await store.remove(organizationId, id))) throw error('not_found', { details: { field: 'id' } })
        },
      }
      return {
        api,
        routes: [
          route({
            operation: 'addReaction',
            summary: 'React to a notification',
            method: 'POST',
            path: '/v1/reactions',
            permission: 'Write',
            status: 201,
            errors: ['already_exists', 'notification_not_found'],
            body: z.object({ notificationId: z.string().max(128), emoji: z.string().min(1).max(16) }),
            response: reaction,
            handler: ({ organizationId, body }) => api.add(organizationId, body.notificationId, body.emoji),
          }),
          route({
            operation: 'listReactions',
            summary: 'List reactions, newest first',
            method: 'GET',
            path: '/v1/reactions',
            permission: 'Read Only',
            response: z.object({ items: z.array(reaction) }),
            handler: async ({ organizationId }) => ({ items: await api.list(organizationId) }),
          }),
          route({
            operation: 'removeReaction',
            summary: 'Remove a reaction',
            method: 'DELETE',
            path: '/v1/reactions/{id}',
            permission: 'Full Access',
            errors: ['not_found'],
            response: z.object({}),
            handler: ({ organizationId, params }) => api.remove(organizationId, params.id ?? ''),
          }),
        ],
        due: [onDue(reactions, () => ({ next: null }))],
        async judge(messages, reads) {
          const refs = messages.map(({ organizationId, channel, address }) => ({ organizationId, id: idOf(channel, address) }))
          const found = await reads.find(reactions, refs)
          return found.map((each) => (each?.value.emoji === '👎' ? skip('muted', 'The recipient wants a pause.') : go))
        },
      }
    },
  })
