import { setTimeout as pause } from 'node:timers/promises'
import type { Run } from '../command.ts'
import { type Service, withService } from '../service.ts'
import { plain, print } from '../terminal.ts'

const POLL_MS = 1_000
/** Entries that are remembered, because they may become visible out of order. */
const REMEMBERED = 2_000
const FILTERS = ['channel', 'status']

type Entry = Awaited<ReturnType<Service['lists']['logs']['list']>>['items'][number]

export const logs: Run = (call) =>
  withService(call, async ({ lists }) => {
    const { terminal, flags } = call
    const { signal } = terminal
    const most = Number(flags.text('limit') ?? 20)
    const [notificationId] = flags.positionals
    const filter = { ...Object.fromEntries(FILTERS.map((name) => [name, flags.text(name)])), notificationId }
    const seen = new Set<string>()

    /** Newest first; ends at a page that is known. */
    async function read(limit: number): Promise<Entry[]> {
      const found: Entry[] = []
      let cursor: string | undefined
      do {
        const page = await lists.logs.list({ ...filter, cursor, limit: Math.min(limit, 100) })
        const fresh = page.items.filter(({ id }) => !seen.has(id))
        found.push(...fresh)
        cursor = fresh.length === page.items.length ? (page.nextCursor ?? undefined) : undefined
      } while (cursor !== undefined && found.length < limit)
      return found.slice(0, limit)
    }

    async function show(entries: readonly Entry[]): Promise<void> {
      for (const entry of entries.toReversed()) {
        seen.add(entry.id)
        await print(terminal, flags.on('json') ? JSON.stringify(entry) : lineOf(entry))
      }
      for (const id of [...seen].slice(0, Math.max(0, seen.size - REMEMBERED))) seen.delete(id)
    }

    await show(await read(most))
    while (flags.on('follow') && !signal.aborted) {
      await pause(POLL_MS, undefined, { signal })
      await show(await read(REMEMBERED / 2))
    }
    return
  })

function lineOf({ createdAt, notificationId, channel, to, event, provider, error, message }: Entry): string {
  const why = error === null ? message : `${error.code}: ${error.message}`
  return plain([createdAt, notificationId, channel, event, to, provider, why].filter(Boolean).join('  '))
}
