import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createGate } from '../../../../src/core/gate/gate.ts'
import {
  type Asked,
  GO,
  type Judge,
  type JudgeContext,
  type Verdict,
} from '../../../../src/core/gate/verdict.ts'
import { plainCategory } from '../../../../src/core/notification/category.ts'
import { suppressionError } from '../../../../src/core/notification/suppression.ts'
import { kindOf } from '../../../support/kinds.ts'

const context = { records: { get: async () => [] }, inside: false } satisfies JudgeContext

function asked(to: string): Asked {
  const kind = kindOf('email')
  const category = plainCategory('default')
  return { organizationId: 'org_a', kind, to, recipient: null, category, metadata: null, at: 0, copy: false }
}

const REFUSE: Verdict = { kind: 'refuse', error: suppressionError('hard_bounce') }
const skip = (decidedBy: string): Verdict => ({
  kind: 'skip',
  decidedBy,
  message: `Not wanted: ${decidedBy}.`,
})
const wait = (until: number): Verdict => ({ kind: 'wait', until, reason: `Not before ${until}.` })
const always =
  (verdict: Verdict): Judge =>
  (messages) =>
    messages.map(() => verdict)
const named = (...judges: readonly Judge[]) => judges.map((judge, at) => ({ name: `judge ${at}`, judge }))

async function verdictOf(...verdicts: readonly Verdict[]): Promise<Verdict | undefined> {
  const [verdict] = await createGate(named(...verdicts.map(always)))([asked('ada@example.com')], context)
  return verdict
}

describe('the gate', () => {
  it('lets go what no judge stops', async () => {
    expect(await verdictOf()).toEqual(GO)
    expect(await verdictOf(GO, GO)).toEqual(GO)
  })

  it('decides by the first judge that says no, which beats every wait; else the latest wait wins', async () => {
    expect(await verdictOf(wait(5), skip('one'), REFUSE)).toEqual(skip('one'))
    expect(await verdictOf(wait(5), REFUSE, skip('one'))).toEqual(REFUSE)
    expect(await verdictOf(wait(5), GO, wait(9), wait(7))).toEqual(wait(9))
  })

  it('follows this rule for any verdicts of any judges', async () => {
    const verdict = fc.constantFrom<Verdict>(GO, REFUSE, skip('one'), skip('two'), wait(1), wait(2), wait(3))
    await fc.assert(
      fc.asyncProperty(fc.array(verdict, { maxLength: 5 }), async (verdicts) => {
        const untils = verdicts.flatMap((each) => (each.kind === 'wait' ? each.until : []))
        const latest = untils.length === 0 ? GO : wait(Math.max(...untils))
        const no = verdicts.find(({ kind }) => kind === 'refuse' || kind === 'skip')
        expect(await verdictOf(...verdicts)).toEqual(no ?? latest)
      }),
    )
  })

  it('asks all judges before the first answers, and each a handful of times about ten thousand messages', async () => {
    const calls: string[] = []
    const judge =
      (name: string): Judge =>
      async (messages) => {
        calls.push(name)
        await Promise.resolve()
        return messages.map(({ to }) => (to === '7777@example.com' ? skip(name) : GO))
      }
    const many = Array.from({ length: 10_000 }, (_, at) => asked(`${at}@example.com`))
    const verdicts = await createGate(named(judge('a'), judge('b')))(many, context)
    expect(verdicts).toHaveLength(10_000)
    expect(verdicts.flatMap(({ kind }, at) => (kind === 'skip' ? at : []))).toEqual([7_777])
    expect(calls.slice(0, 4)).toEqual(['a', 'b', 'a', 'b'])
    expect(calls.length).toBeLessThanOrEqual(12)
  })

  it('takes no missing answer for permission', async () => {
    const short: Judge = (messages) => messages.slice(1).map(() => GO)
    const judging = createGate(named(always(GO), short))(
      [asked('a@example.com'), asked('b@example.com')],
      context,
    )
    await expect(judging).rejects.toThrow('The judge of "judge 1" gave 1 answers to 2 messages.')
  })

  it('fails as a whole if judges fail, and leaves no rejection unhandled', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', note)
    const late: Judge = async () => {
      await Promise.resolve()
      throw new Error('late')
    }
    const early: Judge = () => {
      throw new Error('early')
    }
    const judging = createGate(named(late, early, late))([asked('a@example.com')], context)
    await expect(judging).rejects.toThrow('early')
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })
})
