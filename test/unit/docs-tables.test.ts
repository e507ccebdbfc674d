import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { fromRoot } from '../../scripts/entries.mjs'
import { KIND_MEMBERS } from '../../src/core/channels/channel-kind.ts'
import { perMinutePlans } from '../../src/core/tenancy/plans.ts'

/** The cells of the table after a heading of its columns. */
async function table(file: string, heading: string): Promise<readonly string[][]> {
  const [, after = ''] = (await readFile(fromRoot(file), 'utf8')).split(heading)
  const [rows = ''] = after.split('\n\n')
  return rows
    .split('\n')
    .filter((row) => row.startsWith('| `'))
    .map((row) =>
      row
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1),
    )
}

it('the fields of a kind are documented, each and no other', async () => {
  const rows = await table('docs/tasks/custom-channel.md', '| Field | Meaning | Default |\n')
  const names = rows.map(([field = '']) => /\w+/.exec(field)?.[0])
  expect(names.sort()).toEqual(Object.keys(KIND_MEMBERS).sort())
})

it('the default plans are documented with their limits', async () => {
  const rows = await table('docs/reference/options.md', '| Plan | Requests a minute |')
  const shown = (limit: number | null | undefined) => limit?.toLocaleString('en-US') ?? 'no limit'
  expect(rows).toEqual(
    Object.entries(perMinutePlans).map(([name, plan]) => [
      `\`${name}\``,
      shown(plan.requests?.limit),
      shown(plan.concurrentRequests),
      shown(plan.notificationsPerHour),
      shown(plan.notificationsPerMonth),
      shown(plan.storedBytes === null ? null : plan.storedBytes / 2 ** 20),
    ]),
  )
})
