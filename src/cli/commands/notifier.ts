import { once } from 'node:events'
import type { Run } from '../command.ts'
import { loadNotifier } from '../connect.ts'
import { note, print } from '../terminal.ts'
import { durationOf } from '../times.ts'

/** Of several processes that migrate at once, one does. */
export const migrate: Run = async ({ terminal, flags }) => {
  const notifier = await loadNotifier(terminal, flags.text('config'))
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
