import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { plainCategory } from '../../../../src/core/notification/category.ts'
import type { Cells } from '../../../../src/core/notification/cells.ts'
import { NO_PREFERENCES, type Preferences } from '../../../../src/features/preferences/model.ts'
import {
  type DecidedBy,
  type DecisionInput,
  decide,
} from '../../../../src/features/preferences/precedence.ts'

type Cell = boolean | undefined

/** The cells of one record that concern a message of `news` by e-mail. */
interface Relevant {
  readonly cell: Cell
  readonly category: Cell
  readonly channel: Cell
}

const CELLS: readonly Cell[] = [undefined, true, false]
const NOTHING: Relevant = { cell: undefined, category: undefined, channel: undefined }

function cellsOf(entries: Readonly<Record<string, Cell>>): Cells {
  return Object.fromEntries(
    Object.entries(entries).filter((entry): entry is [string, boolean] => entry[1] !== undefined),
  )
}

function preferencesOf({ cell, category, channel }: Relevant): Preferences {
  return {
    channels: cellsOf({ email: channel, sms: false }),
    categories: { news: cellsOf({ email: cell, '*': category, sms: false }), other: { '*': false } },
  }
}

function inputOf(
  person: readonly Relevant[],
  organization: Relevant,
  more: {
    readonly isOn?: boolean
    readonly required?: boolean
  } = {},
): DecisionInput {
  const { isOn = true, required = false } = more
  return {
    channel: 'email',
    category: { ...plainCategory('news'), required, default: { '*': !isOn, email: isOn } },
    person: person.map(preferencesOf),
    organization: preferencesOf(organization),
  }
}

const records: readonly Relevant[] = CELLS.flatMap((cell) =>
  CELLS.flatMap((category) => CELLS.map((channel) => ({ cell, category, channel }))),
)

function brief(decidedBy: DecidedBy | null): string {
  return decidedBy === null ? 'go' : `skip: ${decidedBy}`
}

/** An independent reading of the rule: writes the whole table as a list of questions, from the strongest. */
function oracle(
  person: readonly Relevant[],
  organization: Relevant,
  isOn: boolean,
  required: boolean,
): string {
  if (required) return 'go'
  const questions: [string, Cell[], boolean][] = [
    ['recipient_category_channel', person.map(({ cell }) => cell), true],
    ['recipient_category', person.map(({ category }) => category), true],
    ['recipient_channel', person.map(({ channel }) => channel), isOn],
    ['organization', [organization.cell], true],
    ['organization', [organization.category], true],
    ['organization', [organization.channel], isOn],
    ['category_default', [isOn], true],
  ]
  const decided = questions.find(
    ([, votes, onCounts]) => votes.some((vote) => vote === false) || (onCounts && votes.some((vote) => vote)),
  )
  return decided?.[1].some((vote) => vote === false) ? `skip: ${decided[0]}` : 'go'
}

describe('the precedence of preferences', () => {
  it('is this table', () => {
    const on = { channel: true }
    const off = { channel: false }
    const rows: [Partial<Relevant>, Partial<Relevant>, boolean, string][] = [
      [{}, {}, true, 'go'],
      [{}, {}, false, 'skip: category_default'],
      [
        { cell: false, category: true, channel: true },
        { category: true },
        true,
        'skip: recipient_category_channel',
      ],
      [{ cell: true, category: false, channel: false }, { category: false }, false, 'go'],
      [{ category: false, channel: true }, on, true, 'skip: recipient_category'],
      [{ category: true, channel: false }, off, false, 'go'],
      [off, { cell: true }, true, 'skip: recipient_channel'],
      [on, { cell: false, category: false }, true, 'go'],
      [on, {}, false, 'skip: category_default'],
      [on, { category: true }, false, 'go'],
      [on, { category: false }, false, 'skip: organization'],
      [{}, { cell: false, category: true }, true, 'skip: organization'],
      [{}, { cell: true, channel: false }, false, 'go'],
      [{}, { category: false, channel: true }, true, 'skip: organization'],
      [{}, { category: true, channel: false }, false, 'go'],
      [{}, off, true, 'skip: organization'],
      [{}, on, true, 'go'],
      [{}, on, false, 'skip: category_default'],
    ]
    for (const [person, organization, isOn, expected] of rows) {
      const input = inputOf([{ ...NOTHING, ...person }], { ...NOTHING, ...organization }, { isOn })
      expect(brief(decide(input)), JSON.stringify([person, organization, isOn])).toBe(expected)
    }
  })

  it('is the same in every cell of the whole table: two records of a person, the organization and the default', () => {
    let cells = 0
    for (const one of records)
      for (const other of records)
        for (const organization of records)
          for (const isOn of [true, false]) {
            const verdict = decide(inputOf([one, other], organization, { isOn }))
            const expected = oracle([one, other], organization, isOn, false)
            if (brief(verdict) !== expected)
              expect.fail(
                `${JSON.stringify({ one, other, organization, isOn })}: ${brief(verdict)}, not ${expected}`,
              )
            cells += 1
          }
    expect(cells).toBe(27 * 27 * 27 * 2)
  })

  it('agrees with the oracle on any number of records', () => {
    const cell = fc.constantFrom(...CELLS)
    const record = fc.record({ cell, category: cell, channel: cell })
    fc.assert(
      fc.property(
        fc.array(record, { maxLength: 3 }),
        record,
        fc.boolean(),
        fc.boolean(),
        (person, organization, isOn, required) => {
          const verdict = brief(decide(inputOf(person, organization, { isOn, required })))
          return verdict === oracle(person, organization, isOn, required)
        },
      ),
    )
  })

  it('counts the later choice of two records, and off where the order is unknown', () => {
    const category = { ...plainCategory('news'), formerIds: ['promo'] }
    const of = (...person: readonly Preferences[]) => {
      const input = { channel: 'email', category, organization: null }
      const [one, other] = [person, person.toReversed()].map((records) =>
        brief(decide({ ...input, person: records })),
      )
      expect(one).toBe(other)
      return one
    }
    const clicked = { channels: {}, categories: { news: { email: false } } }
    const setting = { channels: {}, categories: { promo: { '*': true } } }
    const at = (time: number) => ({ chosenAt: { 'news:email': time, 'promo:*': time, ':email': time } })
    expect(of({ ...clicked, ...at(1) }, { ...setting, ...at(2) })).toBe('go')
    expect(of({ ...clicked, ...at(2) }, { ...setting, ...at(1) })).toBe('skip: recipient_category_channel')
    expect(of({ ...clicked, ...at(1) }, { ...setting, ...at(1) })).toBe('skip: recipient_category_channel')
    expect(of(clicked, { ...setting, ...at(2) })).toBe('skip: recipient_category_channel')
    expect(of({ ...clicked, ...at(1) }, { ...setting, chosenAt: { 'news:sms': 2 } })).toBe(
      'skip: recipient_category_channel',
    )
    const on = { channels: { email: true }, categories: {} }
    const off = { channels: { email: false }, categories: {} }
    expect(of({ ...off, ...at(1) }, { ...on, ...at(2) })).toBe('go')
    expect(of({ ...off, ...at(2) }, { ...on, ...at(1) })).toBe('skip: recipient_channel')
    // A later choice about something else leaves it.
    expect(of({ ...clicked, ...at(1) }, { ...on, ...at(2) })).toBe('skip: recipient_category_channel')
  })

  it('asks what is said of all channels where a channel is not named', () => {
    const category = { ...plainCategory('news'), default: { '*': false, email: true } }
    const input = { category, organization: null }
    const allOff = { ...NO_PREFERENCES, channels: { '*': false, push: true } }
    expect(brief(decide({ ...input, channel: 'sms', person: [] }))).toBe('skip: category_default')
    expect(brief(decide({ ...input, channel: 'email', person: [] }))).toBe('go')
    expect(brief(decide({ ...input, channel: 'email', person: [allOff] }))).toBe('skip: recipient_channel')
    expect(brief(decide({ ...input, channel: 'push', person: [allOff] }))).toBe('skip: category_default')
  })

  it('finds what is stored under a former id, unless the present one says otherwise', () => {
    const category = { ...plainCategory('news'), formerIds: ['promo', 'letters'] }
    const of = (categories: Preferences['categories']) =>
      brief(
        decide({
          channel: 'email',
          category,
          organization: null,
          person: [{ channels: {}, categories }],
        }),
      )
    expect(of({ promo: { '*': false } })).toBe('skip: recipient_category')
    expect(of({ letters: { email: false } })).toBe('skip: recipient_category_channel')
    expect(of({ promo: { '*': false }, news: { '*': true } })).toBe('go')
    expect(of({ constructor: { '*': false } })).toBe('go')
  })

  it('reads own cells only', () => {
    const category = plainCategory('constructor')
    const person = [NO_PREFERENCES]
    expect(brief(decide({ channel: 'constructor', category, organization: null, person }))).toBe('go')
  })
})
