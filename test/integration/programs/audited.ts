/** Makes changes that the audit log records, until it is killed. */
import { createNotifier } from '../../../src/create-notifier.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { openStorage, type StorageLocation } from '../../support/faults/store.ts'

export interface AuditedProgram {
  readonly location: StorageLocation
  readonly name: string
}

const { location, name }: AuditedProgram = JSON.parse(process.argv[2] ?? '{}')
const say = (line: string): void => void process.stdout.write(`${line}\n`)

const notifier = createNotifier({
  storage: openStorage(location),
  channels: { email: recordingProvider() },
  webhooks: { allowHttp: true },
})
await notifier.start({ deliver: false })
say('started')

/** What the kill may end at any point: several at once, so that they share commits. */
async function change(turn: number): Promise<void> {
  const { templates, suppressions, apiKeys, webhooks, categories } = notifier
  const recipient = { channel: 'email', to: `${name}${turn}@example.com` } as const
  const id = `${name}-${turn}`
  await templates.create({ name: id, channel: 'email', body: 'One' })
  const [key, endpoint] = await Promise.all([
    apiKeys.create({ name: id, permission: 'Write' }),
    webhooks.create({ url: 'https://example.com/' }),
    suppressions.add(recipient),
    categories.create({ id, name: id }),
    templates.update(id, { body: 'Two' }),
  ])
  if (turn % 2 === 0) return
  await Promise.all([
    apiKeys.delete(key.id),
    webhooks.delete(endpoint.id),
    suppressions.remove(recipient),
    categories.delete(id),
    templates.delete(id),
  ])
}

for (let turn = 0; ; turn += 1) {
  await notifier.actingAs(name, () => change(turn))
  say(`changed ${turn}`)
}
