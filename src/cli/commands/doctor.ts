import type { MultiTenantNotifier } from '../../notifier.ts'
import type { Call, Run } from '../command.ts'
import { loadNotifier } from '../connect.ts'
import { EXIT, failureOf, messageOf } from '../exit.ts'
import { plain, print, styled } from '../terminal.ts'

interface Finding {
  readonly part: string
  readonly result: 'ok' | 'warning' | 'failed'
  readonly message: string
  /** Null: there is nothing to do. */
  readonly remedy: string | null
}

const OLDEST = [22, 13] as const
const STYLES = { ok: 'green', warning: 'yellow', failed: 'red' } as const

export const doctor: Run = async (call) => {
  const { terminal, flags } = call
  let worst: Finding['result'] = 'ok'
  for await (const finding of findings(call)) {
    const { part, result, message, remedy } = finding
    if (result === 'failed') worst = 'failed'
    const line = `${styled(STYLES[result], result.padEnd(7), terminal.stdout)}  ${plain(part)}: ${plain(message)}`
    await print(terminal, flags.on('json') ? JSON.stringify(finding) : line)
    if (remedy !== null && !flags.on('json')) await print(terminal, `         ${plain(remedy)}`)
  }
  return worst === 'failed' ? EXIT.failed : EXIT.done
}

const ok = (part: string, message: string): Finding => ({ part, result: 'ok', message, remedy: null })

async function* findings({ terminal, flags }: Call): AsyncGenerator<Finding> {
  yield nodeFinding()
  let notifier: MultiTenantNotifier
  try {
    notifier = await loadNotifier(terminal, flags.text('config'))
    yield ok('configuration', 'makes a notifier')
  } catch (error) {
    const remedy = 'docs/reference/command-line.md shows a configuration.'
    yield { part: 'configuration', result: 'failed', message: messageOf(error), remedy }
    return
  }
  try {
    await notifier.start({ deliver: false })
  } catch (error) {
    const remedy =
      'Nothing starts before this is mended: the cause is in the message, such as a wrong address or missing rights.'
    yield { part: 'start', result: 'failed', message: withCauses(error), remedy }
    return
  }
  try {
    yield await storageFinding(notifier)
    yield* await providerFindings(notifier)
  } finally {
    await notifier.stop()
  }
}

function nodeFinding(): Finding {
  const { node } = process.versions
  const [major = 0, minor = 0] = node.split('.').map(Number)
  const isOld = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])
  if (!isOld) return ok('Node.js', node)
  const remedy = `Install Node.js ${OLDEST.join('.')} or later.`
  return { part: 'Node.js', result: 'failed', message: `${node} is too old`, remedy }
}

async function storageFinding(notifier: MultiTenantNotifier): Promise<Finding> {
  const { status, reason, storage } = await notifier.health()
  const part = `storage ${storage.name}`
  if (status === 'unavailable') {
    const remedy = 'Give the database space and the right to write, then run this again.'
    return { part, result: 'failed', message: reason ?? 'does not answer', remedy }
  }
  if (!storage.durable) {
    const remedy = 'Give the option "storage" a file, or PostgreSQL: docs/reference/options.md.'
    return { part, result: 'warning', message: 'a crash loses its data', remedy }
  }
  return ok(part, 'opens, has its schema and stores')
}

async function providerFindings(notifier: MultiTenantNotifier): Promise<readonly Finding[]> {
  const { servedNotifier } = await import('../../served-notifier.ts')
  const checked = await servedNotifier(notifier).checkProviders()
  if (checked.length === 0) {
    const remedy = 'Give the option "channels" a provider: docs/reference/channels.md.'
    return [{ part: 'providers', result: 'warning', message: 'none serves all organizations', remedy }]
  }
  return checked.map(({ channel, name, result, reason }) => {
    const part = `provider ${channel}/${name}`
    if (result !== 'fails')
      return ok(part, result === 'works' ? 'answers and accepts its credentials' : 'has no check')
    const remedy = `Correct the options of "${name}": docs/reference/channels.md says what each provider needs.`
    return { part, result: 'failed', message: reason ?? 'fails', remedy }
  })
}

function withCauses(error: unknown): string {
  const { cause } = error as { readonly cause?: unknown }
  const { message } = failureOf(error)
  return cause instanceof Error ? `${message} ${cause.message}` : message
}
