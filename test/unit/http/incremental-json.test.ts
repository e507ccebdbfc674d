import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { finish, STEP_CHARACTERS } from '../../../src/core/loop/steps.ts'
import { type JsonLimits, mayExceed, parseIncrementally } from '../../../src/http/incremental-json.ts'

const refuse = (limit: keyof JsonLimits): never => {
  throw new Error(limit)
}
const parse = async (text: string, limits: Partial<JsonLimits> = {}): Promise<unknown> =>
  finish(parseIncrementally(text, { values: 100_000, total: 100_000, depth: 64, ...limits }, refuse))

/** What is parsed, or that it is no JSON. */
async function outcome(read: () => unknown): Promise<unknown> {
  try {
    return { value: await read() }
  } catch (error) {
    return (error as Error).name
  }
}

describe('JSON that is parsed in turns', () => {
  it('is what JSON.parse makes of it', async () => {
    const items = fc.jsonValue({ maxDepth: 4, noUnicodeString: false })
    const root = fc.oneof(items, fc.dictionary(fc.string(), fc.oneof(items, fc.array(items))))
    await fc.assert(
      fc.asyncProperty(root, fc.boolean(), async (value, spaced) => {
        const text = JSON.stringify(value, null, spaced ? 1 : 0)
        expect(await outcome(() => parse(text))).toEqual(await outcome(() => JSON.parse(text)))
      }),
    )
  })

  it('is refused where JSON.parse refuses it', async () => {
    const piece = fc.constantFrom(...'{}[],:"\\1 ', '"a"', '"a":', '{"n":[', '{"a":1}', ']}', '[0]', 'true')
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 14 }), async (pieces) => {
        for (const text of [
          pieces.join(''),
          `{"n":[${pieces.join('')}]}`,
          `{"n":[{"a":1},${pieces.join('')}]}`,
        ]) {
          expect(await outcome(() => parse(text))).toEqual(await outcome(() => JSON.parse(text)))
        }
      }),
      { numRuns: 2_000 },
    )
  })

  it.each([
    '{"n":[{"a":1},[0],{"b":[[2]]},3,"[1]",[]],"m":[[4]],"o":{"p":[5]}}',
    '{"n":[{"a":1}],"n":[{"a":2}]}',
    '{"n":[{"a":}],"n":[1]}',
    '{"\\u006e":["\\\\\\"[",{"]":"}\\\\"}]}',
    '{"__proto__":[{"__proto__":[{}]}],"n":[{"__proto__":{"a":1}}]}',
    '[[{"a":1},[2]],{"a":[3]}]',
    '"{"',
    '',
  ])('%s', async (text) => {
    expect(await outcome(() => parse(text))).toEqual(await outcome(() => JSON.parse(text)))
  })

  it('takes a step for each item, and for each part of a text that is searched for them', () => {
    const text = JSON.stringify({ n: Array.from({ length: 2_000 }, (_, nth) => ({ [`a${nth}`]: nth })) })
    const steps = parseIncrementally(text, { values: 100_000, total: 100_000, depth: 64 }, refuse)
    let count = 1
    while (steps.next().done !== true) count += 1
    expect(count).toBeGreaterThanOrEqual(2_000 + Math.floor(text.length / STEP_CHARACTERS))
  })

  it('is bounded in each item, in all else, in all together, and in its depth', async () => {
    const five = '{"a":1,"b":[2,3,{"c":4}]}'
    const values = 12
    await expect(parse(`{"n":[${Array(3).fill(five)}]}`, { values })).resolves.toBeDefined()
    await expect(parse(`{"n":[${five},[1,2,3,4,5,6,7,8,9,10,11,12,13,14]]}`, { values })).rejects.toThrow(
      'values',
    )
    await expect(parse('{"n":[1,2,3,4,5,6,7,8,9,10,11,12]}', { values })).rejects.toThrow('values')
    await expect(parse('{"n":{"a":{"b":[1,2,3,4,5,6,7]}}}', { values })).rejects.toThrow('values')
    const items = `{"n":[${Array(4).fill(five)}]}`
    await expect(parse(items, { total: 42 })).resolves.toBeDefined()
    await expect(parse(items, { total: 41 })).rejects.toThrow('total')
    await expect(parse('{"n":[[[]]]}', { depth: 4 })).resolves.toBeDefined()
    await expect(parse('{"n":[[[[]]]]}', { depth: 4 })).rejects.toThrow('depth')
  })

  it('is asked for where there may be many values', () => {
    const of = (text: string): boolean => mayExceed(Buffer.from(text), 4)
    expect(of('{"a":[1,2]}')).toBe(false)
    expect(of('{"a":[1,2,3]}')).toBe(true)
    expect(of('[[[[[]]]]]')).toBe(true)
    expect(of('{"a":1,"b":2,"c":3}')).toBe(true)
  })
})
