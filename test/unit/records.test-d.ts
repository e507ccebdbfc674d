import { expectTypeOf, it } from 'vitest'
import {
  createNotifier,
  type FactType,
  type LogRecord,
  type Plan,
  perMinutePlans,
  perSecondPlans,
  type TimelineRecord,
  type WebhookEndpointRecord,
} from '../../src/index.ts'

it('a built-in plan is there by its name, to be used and changed', () => {
  expectTypeOf(perMinutePlans.free).toEqualTypeOf<Plan>()
  expectTypeOf(perSecondPlans.team).toEqualTypeOf<Plan>()
  const gold: Plan = { ...perMinutePlans.pro, notificationsPerMonth: 5_000_000 }
  createNotifier({ channels: {}, plans: { ...perMinutePlans, gold } })
  // @ts-expect-error: there is no such plan
  createNotifier({ channels: {}, plans: { gold: perMinutePlans.gold } })
})

it('what a record may say is known by name', () => {
  expectTypeOf<TimelineRecord['event']>().toEqualTypeOf<FactType | 'queued' | 'scheduled'>()
  expectTypeOf<LogRecord['event']>().toEqualTypeOf<FactType | 'queued' | 'scheduled'>()
  type Reason = WebhookEndpointRecord['disabledReason']
  expectTypeOf<Reason>().toEqualTypeOf<'gone' | 'failing' | 'manual' | null>()
})
