import type { OrganizationClient } from '../../client/types.ts'
import type { Call, Run } from '../command.ts'
import { EXIT, type ExitCode, failureOf } from '../exit.ts'
import { withService } from '../service.ts'
import { confirm, note, plain, print, printTable, styled, type Terminal } from '../terminal.ts'
import { instantOf } from '../times.ts'

export const list: Run = (call) =>
  withService(call, async ({ lists }) => {
    const { terminal, flags } = call
    const most = Number(flags.text('limit') ?? 20)
    const since = flags.text('since')
    const query = {
      ...Object.fromEntries(FILTERS.map((name) => [name, flags.text(name)])),
      from: since === undefined ? undefined : instantOf(since, 'since'),
      limit: Math.min(most, 100),
    }
    const items = []
    for await (const item of lists.notifications.list(query)) {
      items.push(item)
      if (flags.on('json')) await print(terminal, JSON.stringify(item))
      if (items.length >= most || terminal.signal.aborted) break
    }
    if (flags.on('json')) return
    await printTable(
      terminal,
      ['ID', 'STATUS', 'CHANNEL', 'TO', 'CREATED', 'ABOUT'],
      items.map(({ id, status, channel, to, createdAt, template, subject, error }) => [
        id,
        status,
        channel,
        to,
        createdAt,
        error?.code ?? template ?? subject,
      ]),
    )
    return
  })

const FILTERS = ['status', 'channel', 'to', 'template', 'code', 'provider']

export const show: Run = (call) =>
  withService(call, async ({ client }) => {
    const { terminal, flags } = call
    const [id = ''] = flags.positionals
    const record = await client.notifications.get(id)
    const explanation = await client.notifications.explain(id)
    if (flags.on('json')) {
      await print(terminal, JSON.stringify(record))
      await print(terminal, JSON.stringify(explanation))
      return
    }
    const { status, channel, to, subject, template, provider, createdAt, sendAt, error, waiting, timeline } =
      record
    const facts = { id, status, channel, to, subject, template, provider, createdAt, sendAt }
    for (const [name, value] of Object.entries(facts))
      if (value !== null) await print(terminal, `${name.padEnd(10)} ${plain(value)}`)
    if (error !== null)
      await print(terminal, `${'error'.padEnd(10)} ${plain(`${error.code}: ${error.message}`)}`)
    if (waiting !== null)
      await print(
        terminal,
        `${'waits'.padEnd(10)} ${plain([waiting.reason, waiting.until, waiting.message].filter(Boolean).join(', '))}`,
      )
    await print(terminal, `\n${styled('bold', 'History', terminal.stdout)}`)
    await printTable(
      terminal,
      ['TIME', 'EVENT', 'PROVIDER', 'DETAILS'],
      timeline.map((each) => [
        each.timestamp,
        each.event,
        each.provider,
        [each.error?.code, each.error?.message ?? each.message ?? each.providerCode]
          .filter(Boolean)
          .join(': '),
      ]),
    )
    await print(terminal, `\n${styled('bold', 'Why', terminal.stdout)}`)
    await printTable(
      terminal,
      ['GATE', 'RESULT', 'DECIDED', 'DETAILS'],
      explanation.gates.map(({ gate, result, basis, at, code, message }) => [
        gate,
        result,
        at ?? basis,
        [code, message].filter((part) => part !== null).join(': '),
      ]),
    )
    return
  })

type Change = (
  client: OrganizationClient,
  id: string,
) => Promise<{ readonly id: string; readonly status: string }>

/** Changes each of the given notifications; one that fails does not stop the others. */
function changing(change: Change, question?: string): Run {
  return async (call) => {
    const { terminal, flags } = call
    const ids = flags.positionals
    if (question !== undefined)
      await confirm(terminal, question.replace('#', counted(ids.length)), flags.on('yes'))
    return withService(call, async ({ client }) => {
      let worst: ExitCode = EXIT.done
      for (const id of ids) {
        if (terminal.signal.aborted) break
        const code = await changeOne(call, () => change(client, id), id)
        worst = worst === EXIT.done ? code : worst
      }
      return worst
    })
  }
}

async function changeOne(
  { terminal, flags }: Call,
  work: () => ReturnType<Change>,
  id: string,
): Promise<ExitCode> {
  try {
    const changed = await work()
    await print(terminal, flags.on('json') ? JSON.stringify(changed) : `${changed.id} ${changed.status}`)
    return EXIT.done
  } catch (error) {
    return failed(terminal, id, error)
  }
}

function failed(terminal: Terminal, id: string, error: unknown): ExitCode {
  const { code, message } = failureOf(error)
  note(terminal, `${plain(id)}: ${plain(message)}`)
  return code
}

export function counted(count: number, noun = 'notification'): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

export const cancel: Run = changing((client, id) => client.notifications.cancel(id), 'Cancel #?')
export const resend: Run = changing((client, id) => client.notifications.resend(id))
export const retry: Run = changing((client, id) => client.notifications.retry(id))
