import type { Audit } from '../../core/audit/audit.ts'
import { auditedChange } from '../../core/audit/audited-change.ts'
import { NotifierError } from '../../core/errors/notifier-error.ts'
import { versionConflict } from '../../core/errors/version-conflict.ts'
import { assertSharedBounds, type Bounds } from '../../core/input/bounds.ts'
import { definedOf } from '../../core/input/defined.ts'
import type { Processor } from '../../core/loop/processor.ts'
import { once } from '../../core/loop/steps.ts'
import type { RecordWrite, StoredRecord } from '../../core/ports/storage/records.ts'
import type { IdGenerator } from '../../core/records/ids.ts'
import { listReader } from '../../core/records/list.ts'
import type { RecordReads, RecordStores } from '../../core/records/record-stores.ts'
import type { PerTenant } from '../../core/tenancy/per-tenant.ts'
import type { OrganizationFinder } from '../../core/tenancy/plan-of.ts'
import { owned, parseSubject } from '../../core/tenancy/scope.ts'
import { assertSlots, createAssembly } from '../../core/text/assemble.ts'
import { assertTemplateText } from '../../core/text/assert-text.ts'
import { templateKind } from '../../core/text/kind.ts'
import type { Library } from '../../core/text/library.ts'
import type { SharedRole, SharedSource, SharedText } from '../../core/text/shared-text.ts'
import { createTextStore, type TextReader } from '../../core/text/text-store.ts'
import { usesIn } from '../../core/text/uses.ts'
import type { SharedTexts } from './api.ts'
import { layoutChange, layoutInput, partialChange, partialInput, type SharedTextChange } from './input.ts'
import type { SharedTextRecord, SharedTextVersionRecord, TextUser } from './model.ts'
import type { ApplicationTexts } from './options.ts'
import {
  insertSharedVersion,
  prefixOf,
  type SharedValue,
  type SharedVersionValue,
  sharedRef,
  sharedShape,
  sharedVersionId,
  sharedVersionOf,
  sharedVersionShape,
  toShared,
} from './records.ts'
import { usersOf } from './users.ts'

/** Dependencies of layouts and partials. */
export interface SharedTextServices {
  readonly stores: RecordStores
  readonly audit: Audit
  readonly records: RecordReads
  readonly ids: IdGenerator
  readonly organizations: OrganizationFinder
  readonly library: Library
  readonly texts: TextReader
  readonly application: ApplicationTexts
  readonly processor: Processor
  readonly bounds: Bounds
}

const SCHEMAS = {
  layout: { input: layoutInput, change: layoutChange },
  partial: { input: partialInput, change: partialChange },
}

/** Rows without their long texts. */
const ROWS = 25

/** The use cases of layouts, or of partials. */
export function createSharedTexts(
  role: SharedRole,
  {
    stores,
    audit,
    records,
    ids,
    organizations,
    library,
    texts,
    application,
    processor,
    bounds,
  }: SharedTextServices,
): PerTenant<SharedTexts> {
  const store = createTextStore(sharedShape, stores, texts)
  const versions = createTextStore(sharedVersionShape, stores, texts)
  const templates = stores.of(templateKind)
  const readList = listReader(`${role}s`, {})
  const readVersions = listReader(`${role}-versions`, {})

  async function find(organizationId: string, idOrName: string): Promise<SharedText> {
    const record =
      typeof idOrName === 'string' ? await store.find(sharedRef(organizationId, role, idOrName)) : null
    const text = record?.value.role === role ? toShared(record) : null
    return owned(text, organizationId, () => unknownText(role, idOrName))
  }

  /** @throws NotifierError `invalid_parameter`, `invalid_template` */
  async function check(
    organizationId: string,
    value: SharedSource & Pick<SharedValue, 'name'>,
  ): Promise<void> {
    const { name, html, text } = value
    assertSharedBounds(value, bounds)
    await processor.share(organizationId)(
      once(() => {
        assertTemplateText({ html, text }, bounds, role)
        if (role === 'layout') assertSlots({ html, text })
      }),
    )
    const { partials: uses } = usesIn([html, text])
    const itself = { ...value, role, uses, localized: false, pin: '' }
    const { sources } = await library.find({ organizationId, uses }, records, itself)
    const partials = new Map(sources.partials)
    if (role === 'partial') partials.set(name, itself)
    await processor.share(organizationId)(
      once(() => {
        const assembly = createAssembly({ layout: null, partials }, bounds)
        for (const flavour of ['html', 'text'] as const)
          if (value[flavour] !== null) assembly.expand(sourceOf(role, value, flavour), flavour, flavour)
      }),
    )
  }

  function update(
    id: string,
    change: Partial<SharedSource & Pick<SharedText, 'description'>>,
    action: 'updated' | 'restored',
    expected?: number,
  ) {
    return store.change<'outdated'>(
      id,
      ({ value, readAt }) =>
        expected === undefined || expected === value.version
          ? changedValue(value, change, readAt)
          : 'outdated',
      (value, before): readonly RecordWrite[] => [
        ...(value.version === before.value.version
          ? []
          : [insertSharedVersion(id, before.organizationId, value, audit.actor())]),
        ...auditedChange(audit, {
          organizationId: before.organizationId,
          action: `${role}.${action}`,
          target: id,
          name: value.name,
          before: before.value,
          after: value,
        }),
      ],
    )
  }

  async function changed(
    text: SharedText,
    organizationId: string,
    change: Omit<SharedTextChange, 'version'>,
    action: 'updated' | 'restored',
    expected?: number,
  ): Promise<SharedTextRecord> {
    const { id, name } = text
    const after = { ...text, ...definedOf(change) }
    if (after.html === null && after.text === null) throw withoutSource(role)
    if (after.html !== text.html || after.text !== text.text) await check(organizationId, after)
    const updated = await update(id, definedOf(change), action, expected)
    if (updated === 'unknown' || updated === 'taken') throw unknownText(role, name)
    if (updated === 'outdated') throw conflict(await find(organizationId, id))
    return view(toShared(updated))
  }

  async function findVersion(text: SharedText, version: number): Promise<StoredRecord<SharedVersionValue>> {
    const known = Number.isSafeInteger(version) && version >= 1 && version <= text.version
    const found = known ? await versions.find({ id: sharedVersionId(text.id, version) }) : null
    if (found === null) throw unknownVersion(text)
    return found
  }

  return {
    async create(organizationId, input) {
      const { name, html = null, text = null, description = null } = parseSubject(SCHEMAS[role].input, input)
      await organizations.existing(organizationId)
      await check(organizationId, { name, html, text })
      const { partials, localized } = usesIn([html, text])
      const given = { role, name, html, text, uses: partials, localized, description }
      const value = { ...given, version: 1, updatedAt: null }
      const id = ids.random(prefixOf(role))
      const created = await store.insert({ id, organizationId, value }, (stored) => [
        insertSharedVersion(id, organizationId, stored, audit.actor()),
        audit.entry({ organizationId, action: `${role}.created`, target: id, name, after: stored }),
      ])
      if (created === 'taken') throw nameTaken(role, name)
      return view(toShared(created))
    },
    async get(organizationId, idOrName) {
      return view(await find(organizationId, idOrName))
    },
    async list(organizationId, query) {
      const { page } = readList(query)
      await organizations.existing(organizationId)
      return store.list(`${role}s`, { organizationId, list: role }, page, ROWS, async (found) =>
        found.map((record) => view(toShared(record))),
      )
    },
    async update(organizationId, idOrName, input) {
      const { version, ...change } = parseSubject(SCHEMAS[role].change, input)
      return changed(await find(organizationId, idOrName), organizationId, change, 'updated', version)
    },
    async versions(organizationId, idOrName, query) {
      const { page } = readVersions(query)
      const { id } = await find(organizationId, idOrName)
      return versions.list(`${role}-versions`, { organizationId, list: id }, page, ROWS, async (found) =>
        found.map(versionView),
      )
    },
    async version(organizationId, idOrName, version) {
      return versionView(await findVersion(await find(organizationId, idOrName), version))
    },
    async restore(organizationId, idOrName, version) {
      const current = await find(organizationId, idOrName)
      const { html, text } = sharedVersionOf(await findVersion(current, version))
      return changed(current, organizationId, { html, text }, 'restored')
    },
    async delete(organizationId, idOrName) {
      const text = await find(organizationId, idOrName)
      // Its users then get the one of the application.
      if (application.find(role, text.name) === null) {
        const users = await usersOf(text, { templates, shared: store.stored })
        if (users.length > 0) throw inUse(text, users)
      }
      const { id: target, name } = text
      const removed = await store.stored.remove(target, () => [
        audit.entry({ organizationId, action: `${role}.deleted`, target, name }),
      ])
      if (!removed) throw unknownText(role, name)
    },
  }
}

/** A partial is checked as if a template named it, so that a cycle is found. */
function sourceOf(
  role: SharedRole,
  { name, ...value }: SharedSource & { readonly name: string },
  flavour: 'html' | 'text',
): string {
  return role === 'partial' ? `{{> ${name}}}` : (value[flavour] ?? '')
}

/** The same value if nothing changes. */
function changedValue(
  value: SharedValue,
  change: Partial<SharedSource & Pick<SharedText, 'description'>>,
  now: number,
): SharedValue {
  const after = { ...value, ...change }
  if (after.html === value.html && after.text === value.text)
    return after.description === value.description ? value : after
  const { partials, localized } = usesIn([after.html, after.text])
  return { ...after, uses: partials, localized, version: value.version + 1, updatedAt: now }
}

function unknownText(role: SharedRole, idOrName: unknown): NotifierError {
  return new NotifierError('not_found', {
    message: `The ${role} "${String(idOrName).slice(0, 100)}" does not exist. Check its name or id.`,
    details: { field: role },
  })
}

function unknownVersion({ role, name, version }: SharedText): NotifierError {
  return new NotifierError('not_found', {
    message: `The ${role} "${name}" has only the versions 1 to ${version}.`,
    details: { field: 'version', newest: version },
  })
}

function withoutSource(role: SharedRole): NotifierError {
  return new NotifierError('invalid_parameter', {
    message: `"html": a ${role} needs "html" or "text".`,
    details: { field: 'html' },
  })
}

function conflict({ role, name, version }: SharedText): NotifierError {
  return versionConflict(`The ${role} "${name}"`, version)
}

function nameTaken(role: SharedRole, name: string): NotifierError {
  return new NotifierError('already_exists', {
    message: `A ${role} named "${name}" exists. Choose another name, or update the existing ${role}.`,
    details: { field: 'name' },
  })
}

function inUse({ role, name }: SharedText, users: readonly TextUser[]): NotifierError {
  const list = users.map((user) => `the ${user.type} "${user.name}"`).join(', ')
  return new NotifierError('text_in_use', {
    message: `The ${role} "${name}" is used by ${list}. Change them, then delete it.`,
    details: { users },
  })
}

function versionView(record: StoredRecord<SharedVersionValue>): SharedTextVersionRecord {
  const { id, version, name, html, text, updatedAt } = sharedVersionOf(record)
  const { author = null } = record.value
  return { id, version, name, html, text, author, createdAt: new Date(updatedAt).toISOString() }
}

function view({ id, name, html, text, description, version, ...times }: SharedText): SharedTextRecord {
  return {
    id,
    name,
    html,
    text,
    description,
    version,
    createdAt: new Date(times.createdAt).toISOString(),
    updatedAt: new Date(times.updatedAt).toISOString(),
  }
}
