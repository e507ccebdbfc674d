import { once } from 'node:events'
import type { StorageInspection } from '../../core/ports/storage/inspection.ts'
import type { MultiTenantNotifier } from '../../notifier.ts'
import type { Call, Run } from '../command.ts'
import { loadNotifier } from '../connect.ts'
import { EXIT, Exit, type ExitCode } from '../exit.ts'
import { note, print } from '../terminal.ts'
import { durationOf } from '../times.ts'

/** Of several processes that migrate at once, one does. */
export const migrate: Run = async (call) => {
  const { terminal, flags } = call
  const notifier = await loadNotifier(terminal, flags.text('config'))
  if (flags.on('status')) return showStatus(call, notifier)
  if (flags.on('dry-run')) return showSteps(call, notifier)
  await notifier.start({ deliver: false })
  const { storage } = await notifier.health()
  await notifier.stop()
  await print(
    terminal,
    flags.on('json')
      ? JSON.stringify({ storage: storage.name, migrated: true })
      : `The schema of ${storage.name} is up to date.`,
  )
  return undefined
}

async function showStatus(
  { terminal, flags }: Call,
  notifier: MultiTenantNotifier,
): Promise<ExitCode | undefined> {
  const { version, needed, steps } = await inspected(notifier)
  const pending = steps.map((step) => step.version)
  const text = `Schema version ${version} of ${needed}. ${pending.length === 0 ? 'Nothing is pending.' : `"carillon migrate" applies ${pending.join(', ')}.`}`
  await print(terminal, flags.on('json') ? JSON.stringify({ version, needed, pending }) : text)
  return pending.length === 0 ? EXIT.done : EXIT.failed
}

async function showSteps({ terminal, flags }: Call, notifier: MultiTenantNotifier): Promise<undefined> {
  for (const step of (await inspected(notifier)).steps) {
    const text = `-- Schema version ${step.version}\n${step.sql.trim()}\n`
    await print(terminal, flags.on('json') ? JSON.stringify(step) : text)
  }
}

/** @throws Exit `configuration` for a schema that this version does not know, or may not read */
async function inspected(notifier: MultiTenantNotifier): Promise<StorageInspection & { version: number }> {
  const { servedNotifier } = await import('../../served-notifier.ts')
  const found = await servedNotifier(notifier).inspectStorage()
  if (found === undefined) throw new Exit('configuration', 'The storage has no schema to migrate.')
  const { version, needed, missingRights } = found
  if (version === null) {
    const grants = missingRights.map(({ grant }) => `${grant};`).join(' ')
    throw new Exit('configuration', `The schema may not be read. Run as its owner: ${grants}`)
  }
  if (version > needed) {
    const message = `The schema has version ${version}, and this version of Carillon knows ${needed}. Update Carillon.`
    throw new Exit('configuration', message)
  }
  return { ...found, version }
}

export const worker: Run = async ({ terminal, flags }) => {
  const { signal } = terminal
  const timeoutMs = durationOf(flags.text('timeout') ?? '10s', 'timeout')
  const notifier = await loadNotifier(terminal, flags.text('config'))
  notifier.on('error', (error) => note(terminal, error.message))
  await notifier.start()
  const { storage, providers } = await notifier.health()
  note(
    terminal,
    `Delivers from ${storage.name} with ${providers.map(({ channel, name }) => `${channel}/${name}`).join(', ') || 'no provider'}. Ctrl+C stops it.`,
  )
  if (!signal.aborted) await once(signal, 'abort')
  note(terminal, 'Stopping; running attempts end first.')
  await notifier.stop({ timeoutMs })
  return undefined
}
