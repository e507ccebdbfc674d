import { expect, it, onTestFinished } from 'vitest'
import { createNotifier } from '../../src/create-notifier.ts'
import type { AuditEntry, List, ListQuery } from '../../src/index.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { openStorage, type StorageLocation } from '../support/faults/store.ts'
import { describeWith } from '../support/left-out.ts'
import { sharedPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'
import { runProgram } from '../support/program.ts'
import { temporaryFile } from '../support/sqlite-harness.ts'
import type { AuditedProgram } from './programs/audited.ts'

const PROCESSES = 4

async function all<Item>(list: (query: ListQuery) => Promise<List<Item>>): Promise<Item[]> {
  const items: Item[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await list({ limit: 100, cursor })
    items.push(...page.items)
    if (page.nextCursor === null) return items
    cursor = page.nextCursor
  }
}

/** The targets that were made and not removed, by the entries. */
function left(entries: readonly AuditEntry[], made: string, removed: string): string[] {
  const targets = (action: string) =>
    entries.filter((each) => each.action === action).map(({ target }) => target.id)
  const gone = new Set(targets(removed))
  return targets(made)
    .filter((id) => !gone.has(id))
    .sort()
}

async function killed(location: StorageLocation): Promise<void> {
  for (let number = 0; number < PROCESSES; number += 1) {
    const program = runProgram('audited', { location, name: `p${number}` } satisfies AuditedProgram)
    await program.said('changed 1')
    // Somewhere in the next changes, elsewhere each time.
    await new Promise((resolve) => setTimeout(resolve, 3 * number))
    program.kill('SIGKILL')
    await program.ended
  }
  const notifier = createNotifier({
    storage: openStorage(location),
    channels: { email: recordingProvider() },
  })
  onTestFinished(() => notifier.stop())
  await notifier.start({ deliver: false })
  const entries = await all(notifier.auditLog.list)
  expect(new Set(entries.map(({ actor }) => actor.id)).size).toBe(PROCESSES)

  const templates = await all(notifier.templates.list)
  expect(templates.map(({ id }) => id).sort()).toEqual(left(entries, 'template.created', 'template.deleted'))
  for (const { id, version } of templates) {
    const updates = entries.filter(({ action, target }) => action === 'template.updated' && target.id === id)
    expect(updates).toHaveLength(version - 1)
  }
  const keys = await all(notifier.apiKeys.list)
  expect(keys.map(({ id }) => id).sort()).toEqual(left(entries, 'api_key.created', 'api_key.deleted'))
  const endpoints = await all(notifier.webhooks.list)
  expect(endpoints.map(({ id }) => id).sort()).toEqual(left(entries, 'webhook.created', 'webhook.deleted'))
  const { items: categories } = await notifier.categories.list()
  const stored = categories.filter(({ source }) => source === 'stored')
  expect(stored.map(({ id }) => id).sort()).toEqual(left(entries, 'category.created', 'category.deleted'))
  const suppressions = await all(notifier.suppressions.list)
  expect(suppressions).toHaveLength(left(entries, 'suppression.added', 'suppression.removed').length)
  expect(suppressions.length).toBeGreaterThan(0)
}

it('has an entry for each change that is stored, and for no other, after kills', async () => {
  const { file, remove } = temporaryFile()
  onTestFinished(remove)
  await killed({ sqlite: file })
})

describeWith(whyNoPostgres(), 'on PostgreSQL', () => {
  it('the same', async () => {
    const url = await sharedPostgres()
    await killed({ postgres: { url, schema: uniqueSchema() } })
  })
})
