import { expectTypeOf, it } from 'vitest'
import { smtp } from '../../adapters/channels/smtp/send.ts'
import {
  createNotifier,
  type MultiTenantNotifier,
  type NotificationQuery,
  type Notifier,
  type NotifierOptions,
  type SendInput,
  type SendOptions,
  type Storage,
  type Tenant,
} from '../../src/index.ts'

declare const storage: Storage<{ readonly client: string }>
declare const options: NotifierOptions
/** What `channels: {}` makes of the type of messages. */
type Channels = Record<never, never>

it('a notifier of many organizations sends for one of them only', () => {
  const notifier = createNotifier({ channels: {}, storage, organizations: 'required' })
  expectTypeOf(notifier).toEqualTypeOf<MultiTenantNotifier<{ readonly client: string }, Channels>>()
  expectTypeOf(notifier.organization('org_a')).toEqualTypeOf<Tenant<{ readonly client: string }, Channels>>()
  expectTypeOf(notifier).not.toHaveProperty('send')
  expectTypeOf(notifier.apiKeys).toHaveProperty('verify')
  expectTypeOf(notifier.apiKeys).not.toHaveProperty('create')
})

it('another is an organization itself', () => {
  expectTypeOf(createNotifier({ channels: {} })).toEqualTypeOf<Notifier<never, Channels>>()
  expectTypeOf(createNotifier({ ...options })).toExtend<Notifier>()
  expectTypeOf(createNotifier({ channels: {}, organizations: 'optional' })).toExtend<Tenant>()
})

it('no method takes an organization beside its own input', () => {
  expectTypeOf<SendOptions>().not.toHaveProperty('organizationId')
  expectTypeOf<NotificationQuery>().not.toHaveProperty('organizationId')
})

it('a function for a tenant takes a notifier and one of its organizations, and their messages', () => {
  const own = createNotifier({
    channels: { email: smtp({ host: 'localhost', from: 'a@example.com' }) },
    storage,
  })
  expectTypeOf(own).toExtend<Tenant>()
  expectTypeOf(own.organization('org_a')).toExtend<Tenant>()
  type Message = Parameters<typeof own.send>[0]
  expectTypeOf<Message[]>().toExtend<Parameters<typeof own.sendBatch>[0]>()
  expectTypeOf<SendInput>().not.toExtend<Message>()
})
