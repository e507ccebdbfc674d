import type { Run } from '../command.ts'
import type { Parsed } from '../flags.ts'
import { withService } from '../service.ts'
import { confirm, note, print, printTable } from '../terminal.ts'
import { instantOf } from '../times.ts'
import { counted } from './notifications.ts'

const FILTERS = ['channel', 'code', 'provider']
/** Notifications of one step. */
const STEP = 500

function filterOf(flags: Parsed): Record<string, string> {
  const since = flags.text('since')
  const given = FILTERS.map((name) => [name, flags.text(name)] as const)
  const from = since === undefined ? [] : [['from', instantOf(since, 'since')] as const]
  return Object.fromEntries(
    [...given, ...from].filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}

export const show: Run = (call) =>
  withService(call, async ({ lists }) => {
    const { terminal, flags } = call
    const { groups, total, exact } = await lists.deadLetters.groups(filterOf(flags))
    if (flags.on('json')) {
      for (const group of groups) await print(terminal, JSON.stringify(group))
      return
    }
    await printTable(
      terminal,
      ['COUNT', 'CODE', 'PROVIDER', 'CHANNEL', 'NEWEST'],
      groups.map(({ count, code, provider, channel, newestAt }) => [
        count,
        code,
        provider,
        channel,
        newestAt,
      ]),
    )
    note(terminal, `${exact ? '' : 'At least '}${counted(total)} failed.`)
    return
  })

export const retry: Run = (call) =>
  withService(call, async ({ client }) => {
    const { terminal, flags } = call
    const filter = filterOf(flags)
    const most = Number(flags.text('most') ?? 10_000)
    const rate = flags.text('rate')
    const dryRun = flags.on('dry-run')
    const { retried: count } = await client.deadLetters.retry({ filter, most, dryRun: true })
    if (count > 0 && !dryRun) await confirm(terminal, `Retry ${counted(count)}?`, flags.on('yes'))

    /** In steps, so that progress shows. */
    async function retryAll(): Promise<number> {
      let done = 0
      let cursor: string | undefined
      do {
        const step = await client.deadLetters.retry({
          filter,
          most: Math.min(STEP, most - done),
          cursor,
          ratePerSecond: rate === undefined ? undefined : Number(rate),
        })
        done += step.retried
        cursor = step.nextCursor ?? undefined
        note(terminal, `${done} of ${count}`)
      } while (cursor !== undefined && done < most && !terminal.signal.aborted)
      return done
    }

    const retried = dryRun || count === 0 ? count : await retryAll()
    const words = `${dryRun ? 'Would retry' : 'Retried'} ${counted(retried)}.`
    await print(terminal, flags.on('json') ? JSON.stringify({ dryRun, retried }) : words)
  })
