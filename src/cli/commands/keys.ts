import type { Grant, Permission } from '../../core/access/permissions.ts'
import type { MultiTenantNotifier } from '../../notifier.ts'
import type { Tenant } from '../../tenant.ts'
import type { Call, Run } from '../command.ts'
import { Exit } from '../exit.ts'
import { type Service, withService } from '../service.ts'
import { confirm, note, print, printTable } from '../terminal.ts'
import { durationOf } from '../times.ts'
import { counted } from './notifications.ts'

type KeysOfEither = Pick<
  MultiTenantNotifier['operatorKeys'] | Tenant['apiKeys'],
  'create' | 'list' | 'rotate' | 'delete'
>

/** Keys of an organization, or with `--operator` of no organization. */
function keysOf({ flags }: Call, { client, connection }: Service): KeysOfEither {
  if (!flags.on('operator')) return client.apiKeys as unknown as Tenant['apiKeys']
  if (connection.notifier !== null) return connection.notifier.operatorKeys
  throw new Exit('usage', 'Operator keys can be managed only where the notifier is, not with "--url".')
}

export const list: Run = (call) =>
  withService(call, async (service) => {
    const { terminal, flags } = call
    const items = []
    let cursor: string | undefined
    do {
      const page = await keysOf(call, service).list({ limit: 100, cursor })
      items.push(...page.items)
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined && !terminal.signal.aborted)
    if (flags.on('json')) {
      for (const key of items) await print(terminal, JSON.stringify(key))
      return
    }
    await printTable(
      terminal,
      ['ID', 'PERMISSION', 'GRANTS', 'EXPIRES', 'NAME'],
      items.map(({ id, permission, grants, expiresAt, name }) => [
        id,
        permission,
        grants.join(','),
        expiresAt,
        name,
      ]),
    )
    return
  })

/** The key itself goes to stdout, once; its id and rights to stderr. */
async function showSecret(
  { terminal, flags }: Call,
  {
    secret,
    ...key
  }: { readonly secret: string; readonly id: string; readonly name: string; readonly permission: string },
): Promise<undefined> {
  if (flags.on('json')) await print(terminal, JSON.stringify({ ...key, secret }))
  else await print(terminal, secret)
  note(terminal, `${key.id} "${key.name}" (${key.permission}). The key is not shown again.`)
  return
}

export const create: Run = (call) =>
  withService(call, async (service) => {
    const { flags } = call
    const [name = ''] = flags.positionals
    const expires = flags.text('expires')
    const created = await keysOf(call, service).create({
      name,
      // The operation validates it.
      permission: (flags.text('permission') ?? 'Write') as Permission,
      grants: flags.texts('grant') as readonly Grant[],
      ...(expires === undefined
        ? {}
        : { expiresAt: new Date(Date.now() + durationOf(expires, 'expires')).toISOString() }),
      ...(flags.texts('allow').length === 0 ? {} : { allowedIps: flags.texts('allow') }),
    })
    return showSecret(call, created)
  })

export const rotate: Run = (call) =>
  withService(call, async (service) => {
    const { flags } = call
    const [id = ''] = flags.positionals
    const overlap = flags.text('overlap')
    const options = overlap === undefined ? {} : { overlapMs: durationOf(overlap, 'overlap') }
    return showSecret(call, await keysOf(call, service).rotate(id, options))
  })

export const remove: Run = async (call) => {
  const { terminal, flags } = call
  const ids = flags.positionals
  await confirm(terminal, `Delete ${counted(ids.length, 'key')}? They stop working at once.`, flags.on('yes'))
  return withService(call, async (service) => {
    for (const id of ids) {
      await keysOf(call, service).delete(id)
      await print(terminal, flags.on('json') ? JSON.stringify({ id, deleted: true }) : `${id} deleted`)
    }
    return undefined
  })
}
