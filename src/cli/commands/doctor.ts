import type { StorageInspection } from '../../core/ports/storage/inspection.ts'
import type { MultiTenantNotifier } from '../../notifier.ts'
import type { ServedNotifier } from '../../served-notifier.ts'
import type { Call, Run } from '../command.ts'
import { loadNotifier } from '../connect.ts'
import { clockFinding, comparingClocks } from '../doctor/clocks.ts'
import { endpointFindings } from '../doctor/endpoints.ts'
import { type Finding, failed, ok, warning } from '../doctor/finding.ts'
import { senderFindings, type Texts, textsOf } from '../doctor/sender-domains.ts'
import { EXIT, failureOf, messageOf, usage } from '../exit.ts'
import { plain, print, styled } from '../terminal.ts'

const OLDEST = [22, 13] as const
const STYLES = { ok: 'green', warning: 'yellow', failed: 'red' } as const
/** Of a start, which may migrate, and of a stop. */
const START_MS = 60_000
/** Domains of senders; more are not checked. */
const MOST_DOMAINS = 20

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

async function* findings({ terminal, flags }: Call): AsyncGenerator<Finding> {
  const texts = resolver(flags.texts('dns'))
  yield nodeFinding()
  let notifier: MultiTenantNotifier
  try {
    notifier = await loadNotifier(terminal, flags.text('config'))
    yield ok('configuration', 'makes a notifier')
  } catch (error) {
    yield failed('configuration', messageOf(error), 'docs/reference/command-line.md shows a configuration.')
    return
  }
  const { servedNotifier } = await import('../../served-notifier.ts')
  const served = servedNotifier(notifier)
  try {
    yield* await schemaFindings(served)
    await inTime(notifier.start({ deliver: false }))
  } catch (error) {
    const remedy = 'Correct the cause in the message, such as a wrong address or missing rights.'
    yield failed('start', withCause(error), remedy)
    return
  }
  try {
    yield await storageFinding(notifier)
    const [providers, aheadMs] = await comparingClocks(() => served.checkProviders())
    yield* providerFindings(providers)
    if (aheadMs !== null) yield clockFinding('the servers of providers', aheadMs)
    const domains = domainsOf(providers)
    const ofSenders = domains.map((domain) => senderFindings(domain, texts, flags.texts('dkim')))
    for (const ofDomain of await Promise.all(ofSenders)) yield* ofDomain
    yield* await endpointFindings(notifier, served)
  } finally {
    await inTime(notifier.stop()).catch(() => {})
  }
}

function resolver(servers: readonly string[]): Texts {
  try {
    return textsOf(servers)
  } catch {
    throw usage('--dns must be the address of a DNS server, such as 1.1.1.1 or 127.0.0.1:5353.')
  }
}

async function inTime(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`It has not ended within ${START_MS / 1_000} s.`)), START_MS)
  })
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
}

function nodeFinding(): Finding {
  const { node } = process.versions
  const [major = 0, minor = 0] = node.split('.').map(Number)
  const isOld = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])
  if (!isOld) return ok('Node.js', node)
  return failed('Node.js', `${node} is too old`, `Install Node.js ${OLDEST.join('.')} or later.`)
}

/** Before a start, which fails without the rights. */
async function schemaFindings({ inspectStorage }: ServedNotifier): Promise<readonly Finding[]> {
  const askedAt = Date.now()
  const found = await inspectStorage()
  if (found === undefined) return []
  const { now, missingRights } = found
  return [
    ...missingRights.map(({ purpose, grant }) =>
      failed('rights', `the role may not ${purpose}`, `Run as the owner: ${grant};`),
    ),
    ...schemaFinding(found),
    clockFinding('the storage', now - (askedAt + Date.now()) / 2),
  ]
}

function schemaFinding({ version, needed, steps }: StorageInspection): readonly Finding[] {
  if (version === null) return []
  if (version > needed)
    return [
      failed(
        'schema',
        `version ${version} is newer than ${needed}, which this code knows`,
        'Update Carillon.',
      ),
    ]
  const pending = steps.length === 0 ? '' : `; the start brings it from ${version}`
  return [ok('schema', `version ${needed}${pending}`)]
}

async function storageFinding(notifier: MultiTenantNotifier): Promise<Finding> {
  const { status, reason, storage } = await notifier.health()
  const part = `storage ${storage.name}`
  if (status === 'unavailable') {
    const remedy = 'Give the database space and the right to write, then run this again.'
    return failed(part, reason ?? 'does not answer', remedy)
  }
  if (!storage.durable) {
    const remedy = 'Give the option "storage" a file, or PostgreSQL: docs/reference/options.md.'
    return warning(part, 'a crash loses its data', remedy)
  }
  return ok(part, 'opens, has its schema and stores')
}

type Checked = Awaited<ReturnType<ServedNotifier['checkProviders']>>

function providerFindings(checked: Checked): readonly Finding[] {
  if (checked.length === 0) {
    const remedy = 'Give the option "channels" a provider: docs/reference/channels.md.'
    return [warning('providers', 'none serves all organizations', remedy)]
  }
  return checked.map(({ channel, name, result, reason }) => {
    const part = `provider ${channel}/${name}`
    if (result !== 'fails')
      return ok(part, result === 'works' ? 'answers and accepts its credentials' : 'has no check')
    const remedy = `Correct the options of "${name}": docs/reference/channels.md says what each provider needs.`
    return failed(part, reason ?? 'fails', remedy)
  })
}

/** Of addresses and domains. */
function domainsOf(checked: Checked): readonly string[] {
  const senders = checked.flatMap((provider) => provider.senders)
  const domains = senders.map((sender) => sender.slice(sender.lastIndexOf('@') + 1))
  return [...new Set(domains)].slice(0, MOST_DOMAINS)
}

function withCause(error: unknown): string {
  const { cause } = error as { readonly cause?: unknown }
  const { message } = failureOf(error)
  return cause instanceof Error ? `${message} ${cause.message}` : message
}
