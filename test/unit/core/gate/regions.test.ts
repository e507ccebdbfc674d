import { describe, expect, it, vi } from 'vitest'
import type { ChannelKind, OrganizationLimits } from '../../../../src/core/channels/channel-kind.ts'
import { NotifierError } from '../../../../src/core/errors/notifier-error.ts'
import { judgeByRegions, type LimitsFinder } from '../../../../src/core/gate/regions.ts'
import { type Asked, GO, type JudgeContext } from '../../../../src/core/gate/verdict.ts'
import { plainCategory } from '../../../../src/core/notification/category.ts'
import { unknownOrganization } from '../../../../src/core/tenancy/organization.ts'
import { kindOf } from '../../../support/kinds.ts'

const context: JudgeContext = { records: { get: async () => [] }, inside: false }
const [GERMAN, SWISS] = ['+4915112345678', '+41791234567']
const only = (...smsCountries: string[]): OrganizationLimits => ({ smsCountries, senders: null })
const FREE: OrganizationLimits = { smsCountries: null, senders: null }

function asked(to: string, given: Partial<Asked> = {}): Asked {
  const category = plainCategory('default')
  return {
    organizationId: 'org_a',
    kind: kindOf('sms'),
    to,
    recipient: null,
    category,
    metadata: null,
    at: 0,
    copy: false,
    ...given,
  }
}

const refused = (details: object) => ({ kind: 'refuse', error: { code: 'region_not_permitted', details } })

describe('the judge of regions', () => {
  it('asks nothing about channels that limit no recipient', () => {
    const limitsOf = vi.fn<LimitsFinder>()
    const mails = ['ada@example.com', 'alan@example.com'].map((to) => asked(to, { kind: kindOf('email') }))
    expect(judgeByRegions(limitsOf)(mails, context)).toEqual([GO, GO])
    expect(limitsOf).not.toHaveBeenCalled()
  })

  it('answers at once from known limits, in order, and asks once for an organization', () => {
    const limitsOf = vi.fn<LimitsFinder>((id) => (id === 'org_a' ? only('+49') : FREE))
    const verdicts = judgeByRegions(limitsOf)(
      [
        asked(SWISS),
        asked('ada@example.com', { kind: kindOf('email') }),
        asked(GERMAN),
        asked(SWISS, { organizationId: 'org_b' }),
        asked(SWISS, { recipient: 'ada' }),
      ],
      context,
    )
    expect(verdicts).toMatchObject([
      refused({ field: 'to' }),
      GO,
      GO,
      GO,
      refused({ field: 'recipient', recipient: 'ada' }),
    ])
    expect(limitsOf.mock.calls).toEqual([
      ['org_a', undefined],
      ['org_b', undefined],
    ])
  })

  it('reads in the transaction of the caller', async () => {
    const limitsOf = vi.fn<LimitsFinder>(async () => only('+49'))
    const inside = { ...context, inside: true }
    expect(await judgeByRegions(limitsOf)([asked(SWISS)], inside)).toMatchObject([refused({ field: 'to' })])
    expect(limitsOf).toHaveBeenCalledExactlyOnceWith('org_a', inside.records)
  })

  it('refuses for an organization that is gone, and for no other', async () => {
    const judge = judgeByRegions(async (id) => {
      if (id === 'org_gone') throw unknownOrganization(id)
      return FREE
    })
    const verdicts = await judge([asked(SWISS, { organizationId: 'org_gone' }), asked(SWISS)], context)
    expect(verdicts).toMatchObject([{ kind: 'refuse', error: { code: 'not_found' } }, GO])
  })

  it('rejects while limits are unknown, which must not count as permission', async () => {
    const away = new NotifierError('service_unavailable')
    const judge = judgeByRegions(async () => Promise.reject(away))
    await expect(judge([asked(SWISS)], context)).rejects.toBe(away)
  })

  it('refuses the messages whose own kind is at fault, and no others', () => {
    const kind: ChannelKind = {
      name: 'pager',
      recipient: 'a number',
      assertPermitted: () => {
        throw new TypeError('secret')
      },
    }
    const verdicts = judgeByRegions(() => FREE)([asked('1234', { kind }), asked(SWISS)], context)
    expect(verdicts).toMatchObject([{ kind: 'refuse', error: { code: 'invalid_configuration' } }, GO])
    expect(JSON.stringify(verdicts)).not.toContain('secret')
  })
})
