import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createNotifier } from '../../src/create-notifier.ts'
import type { MultiTenantNotifier } from '../../src/notifier.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { eventually } from '../support/eventually.ts'
import { openStorage, type StorageLocation } from '../support/faults/store.ts'
import { describeEachWith } from '../support/left-out.ts'
import { runProgram } from '../support/program.ts'
import { STORAGES, whyNoStorage } from '../support/storages.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import type { ListenProgramOptions } from './programs/listen.ts'

const directory = temporaryDirectory()
const MIRROR = 'wh_listener.mirror'
let files = 0

/** A process that accepts and does not deliver. The subscription begins with it. */
async function accepting(location: StorageLocation): Promise<MultiTenantNotifier> {
  const notifier = createNotifier({
    channels: { email: recordingProvider() },
    storage: openStorage(location),
    organizations: 'required',
  })
  onTestFinished(() => notifier.stop())
  await notifier.allOrganizations.listen('mirror', () => {})
  await notifier.start({ deliver: false })
  return notifier
}

async function organizations(notifier: MultiTenantNotifier, ids: readonly string[]): Promise<void> {
  for (const id of ids) await notifier.organizations.create({ id, name: id, plan: 'pro' })
}

/** Without its number: a kill may also take an attempt to send along. */
const subjectOf = (eventId: string): string => eventId.replace(/_\d+$/, '')

/** Sends messages of an organization. Returns the subjects of their events. */
async function send(notifier: MultiTenantNotifier, organizationId: string, count: number): Promise<string[]> {
  const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const
  const { items } = await notifier.organization(organizationId).sendBatch(Array(count).fill(mail))
  return items.map((item) => `evt_${'id' in item ? item.id.slice('notif_'.length) : ''}`)
}

/** What the listeners of all processes wrote. */
function written(file: string): { readonly begun: string[]; readonly done: string[] } {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
  const of = (what: string): string[] =>
    lines.filter((line) => line.startsWith(`${what} `)).map((line) => subjectOf(line.split(' ')[1] ?? ''))
  return { begun: of('begun'), done: of('done') }
}

function statesOf(notifier: MultiTenantNotifier, status: 'pending' | 'failed') {
  return notifier.allOrganizations.webhooks.deliveries(MIRROR, { status })
}

describeEachWith(STORAGES, whyNoStorage, 'a listener on %s', (_name, locate) => {
  const started = async (): Promise<readonly [StorageLocation, ListenProgramOptions]> => {
    const location = await locate()
    files += 1
    return [location, { location, file: join(directory, `${files}.log`), slowMs: 5, leaseMs: 1_000 }]
  }

  it('in two processes, of which some are killed in it, gets each of 1,000 events of five organizations', async () => {
    const [location, options] = await started()
    const notifier = await accepting(location)
    const ids = ['org_a', 'org_b', 'org_c', 'org_d', 'org_e']
    await organizations(notifier, [...ids, 'org_gone'])
    const sent = (await Promise.all(ids.map((id) => send(notifier, id, 200)))).flat()
    const gone = new Set(await send(notifier, 'org_gone', 100))
    const stays = runProgram('listen', options)
    for (let kill = 1; kill <= 3; kill += 1) {
      const victim = runProgram('listen', options)
      await victim.said('started')
      const before = written(options.file).begun.length
      await eventually(() => written(options.file).begun.length > before + 20, { everyMs: 1 })
      victim.kill('SIGKILL')
      expect(await victim.ended).toBe('SIGKILL')
      if (kill === 2) await notifier.organizations.delete('org_gone', { force: true })
    }
    const last = runProgram('listen', options)
    const isDone = () =>
      new Set(written(options.file).done.filter((id) => !gone.has(id))).size === sent.length
    await eventually(async () => isDone() && (await statesOf(notifier, 'pending')).items.length === 0, {
      everyMs: 200,
    })
    for (const program of [stays, last]) program.kill('SIGTERM')
    for (const program of [stays, last]) expect(await program.ended, program.errors.join('\n')).toBe(0)

    const { done } = written(options.file)
    expect(new Set(done.filter((id) => !gone.has(id)))).toEqual(new Set(sent))
    expect((await statesOf(notifier, 'failed')).items).toEqual([])
    const { items } = await notifier.allOrganizations.webhooks.deliveries(MIRROR, { limit: 100 })
    expect(items.some(({ eventId }) => gone.has(subjectOf(eventId)))).toBe(false)
    expect((await notifier.allOrganizations.webhooks.list()).items).toMatchObject([
      { id: MIRROR, status: 'active', failingSince: null },
    ])
  })

  it('whose event ends the process fails after its attempts', async () => {
    const [location, options] = await started()
    const notifier = await accepting(location)
    await organizations(notifier, ['org_a'])
    const [poison = '', ...others] = await send(notifier, 'org_a', 5)
    let deaths = 0
    for (;;) {
      const program = runProgram('listen', { ...options, leaseMs: 400, poison: `${poison}_2` })
      const over = eventually(async () => (await statesOf(notifier, 'failed')).items.length === 1)
      const end = await Promise.race([program.ended, over.then(() => 'over')])
      if (end === 'over') break
      expect(end, program.errors.join('\n')).toBe(13)
      deaths += 1
      expect(deaths).toBeLessThanOrEqual(8)
    }
    expect(deaths).toBe(8)
    const [failed] = (await statesOf(notifier, 'failed')).items
    expect(failed).toMatchObject({ eventId: `${poison}_2` })
    expect(failed?.attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    await eventually(() => new Set(written(options.file).done).size === others.length)
    expect(new Set(written(options.file).done)).toEqual(new Set(others))
  })
})
