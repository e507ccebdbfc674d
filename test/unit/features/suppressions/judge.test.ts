import { expect, it } from 'vitest'
import { type Asked, GO } from '../../../../src/core/gate/verdict.ts'
import { plainCategory } from '../../../../src/core/notification/category.ts'
import { SUPPRESSION_REASONS, suppressionError } from '../../../../src/core/notification/suppression.ts'
import { judgeBySuppressions } from '../../../../src/features/suppressions/judge.ts'
import { suppressionId } from '../../../../src/features/suppressions/records.ts'
import { kindOf } from '../../../support/kinds.ts'
import { HASHES } from '../../../support/person-hashes.ts'

const kind = kindOf('email')

function asked(to: string, required: boolean): Asked {
  const category = { ...plainCategory('news'), required }
  return { organizationId: 'org_a', kind, to, recipient: null, category, metadata: null, at: 0, copy: false }
}

it.each(SUPPRESSION_REASONS)('a suppression for %s, with a required category and without', async (reason) => {
  const suppressed = suppressionId(HASHES, kind, 'org_a', 'Ada@example.com')
  const records = {
    get: async (_kind: unknown, refs: readonly { readonly id?: string }[]) =>
      refs.map(({ id }) => (id === suppressed ? { value: { reason } } : null)) as never,
  }
  const messages = [
    asked('ada@example.com', false),
    asked('ada@example.com', true),
    asked('bob@example.com', false),
  ]
  const refusal = { kind: 'refuse', error: suppressionError(reason) }
  expect(await judgeBySuppressions(HASHES)(messages, { records, inside: false })).toEqual([
    refusal,
    reason === 'unsubscribe' ? GO : refusal,
    GO,
  ])
})
