import { expect, it } from 'vitest'
import { scanPage } from '../../../adapters/storage/scan-page.ts'
import type { PageRequest } from '../../../src/core/ports/storage/page.ts'

interface Row {
  readonly at: number
  readonly seq: number
}

/** Newest first: 300 rows, three in each moment. */
const rows: readonly Row[] = Array.from({ length: 300 }, (_, age) => ({
  at: 100 - Math.floor(age / 3),
  seq: 300 - age,
}))

/** A page of every twentieth row, and the number of rows that were read. */
async function read(page: Partial<PageRequest>, most?: number) {
  let count = 0
  const found = await scanPage(
    { limit: 3, offset: 0, ...page },
    {
      sortedBy: ['at', 'seq'],
      read([at = Infinity, seq = Infinity] = [], limit) {
        const next = rows.filter((row) => row.at < at || (row.at === at && row.seq < seq)).slice(0, limit)
        count += next.length
        return next
      },
      matches: ({ seq }) => seq % 20 === 0,
      toItem: ({ seq }) => seq,
      ...(most === undefined ? {} : { most }),
    },
  )
  return { ...found, count }
}

it('pages of any size hold each match once, in order', async () => {
  for (const most of [4, 20, 41, 2_000]) {
    const found: number[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const { items, nextCursor } = await read({ cursor }, most)
      found.push(...items)
      cursor = nextCursor
    }
    expect(found).toEqual(Array.from({ length: 15 }, (_, index) => 300 - 20 * index))
  }
})

it('reads no more than a page needs', async () => {
  expect(await read({ limit: 1 })).toMatchObject({ items: [300], count: 100 })
  expect(await read({ limit: 1 }, 10)).toMatchObject({ items: [300], count: 100 })
  expect(await read({ limit: 10 })).toMatchObject({ count: 300 })
})

it('examines as many rows as it may, beside those of the offset', async () => {
  expect(await read({ limit: 10 }, 41)).toMatchObject({ items: [300, 280, 260] })
  expect(await read({ limit: 10, offset: 2 }, 41)).toMatchObject({ items: [260] })
  expect(await read({ limit: 10, offset: 2 }, 59)).toMatchObject({ items: [260, 240] })
})

it('refuses an offset whose rows are further away', async () => {
  await expect(read({ offset: 5 }, 40)).rejects.toMatchObject({ code: 'invalid_parameter' })
})

it("refuses another list's cursor", async () => {
  await expect(read({ cursor: 'a' })).rejects.toMatchObject({ code: 'invalid_parameter' })
})
