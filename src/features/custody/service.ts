import { unknownChannel } from '../../core/channels/kinds.ts'
import { assertRecipient } from '../../core/channels/recipient.ts'
import { NotifierError } from '../../core/errors/notifier-error.ts'
import { recipientName } from '../../core/people/person-hashes.ts'
import type { RecordInsert, StoredRecord } from '../../core/ports/storage/records.ts'
import { createResource } from '../../core/records/resource.ts'
import { ALL_ORGANIZATIONS } from '../../core/tenancy/all-organizations.ts'
import type { PerTenant } from '../../core/tenancy/per-tenant.ts'
import { isoOrNull, parseOptions, parseSubject } from '../../core/tenancy/scope.ts'
import type { PeopleApi } from './api.ts'
import { NO_COUNTS } from './counts.ts'
import { type CustodyServices, type Erasing, FIRST_PASS } from './erasing.ts'
import { exported } from './export.ts'
import { eraseOptions, exportOptions, personInput } from './input.ts'
import type { ErasureRecord, ExportedLine, PersonInput } from './model.ts'
import type { Step } from './pace.ts'
import { type ErasureValue, erasureKind, RUNNING } from './records.ts'

/** How long a call goes on with an erasure before it answers. */
const FIRST_PASS_MS = 5_000
/** Running erasures of an organization. */
const MOST_RUNNING = 100

interface Named {
  readonly person: PersonInput
  /** Names the person in the audit log. */
  readonly target: string
}

/** The use cases of erasure and export. */
export function createPeople(core: CustodyServices, erasing: Erasing): PerTenant<PeopleApi> {
  const { storage, stores, audit, ids, clock, kinds, hashes, organizations, box, wake } = core
  const store = stores.always(erasureKind)
  const resource = createResource(organizations, {
    name: 'erasures',
    rows: store,
    view,
    absent: unknownErasure,
  })

  /** @throws NotifierError as {@link PeopleApi.erase} */
  function named(input: PersonInput): Named {
    const person = parseSubject(personInput, input)
    const { recipient, channel, to } = person
    if (recipient !== undefined) return { person, target: recipientName(hashes.recipient(recipient)) }
    const kind = kinds.known.get(channel)
    if (kind === undefined) throw unknownChannel(channel, kinds)
    assertRecipient(kind, to)
    return { person, target: hashes.addressName(kind, to) }
  }

  /** The stored owner: null over all organizations. @throws NotifierError `not_found` */
  async function ownerOf(organizationId: string): Promise<string | null> {
    if (organizationId === ALL_ORGANIZATIONS) return null
    await organizations.existing(organizationId)
    return organizationId
  }

  /** Stores an erasure, or finds the running one of the person. */
  async function begin(
    owner: string | null,
    { person, target }: Named,
    also: readonly RecordInsert[],
  ): Promise<StoredRecord<ErasureValue>> {
    const value: ErasureValue = {
      target,
      counts: NO_COUNTS,
      about: box().seal(JSON.stringify(person)),
      uploads: [],
      mark: await storage.custody.mark(),
      pass: FIRST_PASS,
      dueAt: clock.now() + FIRST_PASS_MS * 2,
      completedAt: null,
    }
    for (;;) {
      const running = await store.find({ key: erasureKind.key?.(value, owner) ?? '' })
      if (running !== null) return running
      const others = await store.list(
        { organizationId: owner, list: RUNNING },
        { limit: 1, offset: MOST_RUNNING - 1 },
      )
      if (others.items.length > 0) throw new NotifierError('erasure_limit_reached')
      const begun = await store.insert({ id: ids.random('era'), organizationId: owner, value }, also)
      if (begun !== 'taken') return begun
    }
  }

  return {
    async erase(organizationId, input, options) {
      const whom = named(input)
      const { person, target } = whom
      const { dryRun = false, signal } = parseOptions(eraseOptions, options)
      const owner = await ownerOf(organizationId)
      if (dryRun) {
        const counts = await erasing.count(owner, person, signal)
        const createdAt = new Date(clock.now()).toISOString()
        return {
          id: null,
          organizationId: owner,
          status: 'dry_run',
          target,
          counts,
          createdAt,
          completedAt: null,
        }
      }
      const erasure = await begin(owner, whom, [
        audit.entry({ organizationId, action: 'person.erased', target }),
      ])
      const end = clock.monotonic() + FIRST_PASS_MS
      if (erasure.revision === 1) await erasing.goOn(erasure, () => clock.monotonic() < end)
      wake()
      return view((await store.find({ id: erasure.id })) ?? erasure)
    },
    getErasure: async (organizationId, id) => resource.get(ownerIn(organizationId), id),
    listErasures: async (organizationId, query) => resource.list(ownerIn(organizationId), query),
    async export(organizationId, input, options) {
      const { person, target } = named(input)
      const { signal } = parseOptions(exportOptions, options)
      const owner = await ownerOf(organizationId)
      const { id, ...entry } = audit.entry({
        organizationId,
        action: 'person.exported',
        target,
      })
      await stores.always(entry.kind).insert({ id, organizationId: null, value: entry.value })
      return lines(owner, person, core.pace(owner, signal))
    },
  }

  async function* lines(
    owner: string | null,
    person: PersonInput,
    step: Step,
  ): AsyncGenerator<ExportedLine, void, undefined> {
    for await (const { ids: some } of erasing.organizations(step, owner))
      for (const id of some) yield* exported({ ...core, step }, id, person)
  }
}

const ownerIn = (organizationId: string): string | null =>
  organizationId === ALL_ORGANIZATIONS ? null : organizationId

function unknownErasure(id: string): NotifierError {
  return new NotifierError('not_found', {
    message: `There is no erasure "${id.slice(0, 100)}".`,
    details: { field: 'id' },
  })
}

function view({ id, organizationId, createdAt, value }: StoredRecord<ErasureValue>): ErasureRecord {
  const { target, counts, about, completedAt } = value
  return {
    id,
    organizationId,
    status: about === null ? 'completed' : RUNNING,
    target,
    counts,
    createdAt: new Date(createdAt).toISOString(),
    completedAt: isoOrNull(completedAt),
  }
}
