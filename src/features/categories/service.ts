import { isDeepStrictEqual } from 'node:util'
import { auditedChange } from '../../core/audit/audited-change.ts'
import { NotifierError } from '../../core/errors/notifier-error.ts'
import { versionConflict } from '../../core/errors/version-conflict.ts'
import type { FeatureCore } from '../../core/feature.ts'
import { definedOf } from '../../core/input/defined.ts'
import { shortName } from '../../core/input/listed-names.ts'
import type { CategoryRecord } from '../../core/notification/category.ts'
import {
  CATEGORY_ID,
  type Category,
  DEFAULT_CATEGORY,
  MOST_CATEGORIES,
} from '../../core/notification/category.ts'
import { CATEGORY_ID_FORM } from '../../core/notification/category-id.ts'
import { ALL, longCells } from '../../core/notification/cells.ts'
import type { RecordWrite, StoredRecord } from '../../core/ports/storage/records.ts'
import { allOf, insertWithin } from '../../core/records/record-stores.ts'
import type { PerTenant } from '../../core/tenancy/per-tenant.ts'
import { parseSubject, wrong } from '../../core/tenancy/scope.ts'
import type { Delays } from '../delays/index.ts'
import type { Categories } from './api.ts'
import type { CategoryFinder } from './finder.ts'
import { categoryChange, categoryFault, categoryInput, categoryOf } from './input.ts'
import { type CategoryValue, categoryKind, categoryRecordId, storedCategories } from './records.ts'

/** The use cases of categories. */
export function createCategories(
  { stores, audit, organizations, kinds }: FeatureCore,
  finder: CategoryFinder,
  delays: Delays,
): PerTenant<Categories> {
  const store = stores.of(categoryKind)
  const { code } = finder

  /** The stored category with an id or a former one. */
  async function findStored(
    organizationId: string,
    id: unknown,
  ): Promise<StoredRecord<CategoryValue> | null> {
    assertId(id)
    const own = await store.find({ id: categoryRecordId(organizationId, id) })
    if (own !== null) return own
    const all = await storedCategories(store, organizationId)
    const renamed = all.find(({ formerIds }) => formerIds.includes(id))
    return renamed === undefined ? null : store.find({ id: categoryRecordId(organizationId, renamed.id) })
  }

  /** @throws NotifierError `not_found`, or `invalid_parameter` for a category in code */
  async function changeable(organizationId: string, id: unknown): Promise<StoredRecord<CategoryValue>> {
    assertId(id)
    if (id === DEFAULT_CATEGORY && !code.namesDefault) throw always(id)
    if (code.byId.has(id)) throw inCode(id)
    await organizations.existing(organizationId)
    return (await findStored(organizationId, id)) ?? raise(unknown(id))
  }

  /** @param except the id of the category itself */
  async function assertFree(
    organizationId: string,
    names: readonly string[],
    except: string | null,
  ): Promise<void> {
    const stored = await storedCategories(store, organizationId)
    const others = stored.filter(({ id }) => id !== except)
    if (except === null && others.length >= MOST_CATEGORIES) throw tooMany()
    const taken = new Set(others.flatMap(({ id, formerIds }) => [id, ...formerIds]))
    for (const name of names) if (code.byId.has(name) || taken.has(name)) throw exists(name)
  }

  function assertSound(category: Category): void {
    const fault = categoryFault(category, kinds.known)
    if (fault === null) return
    const { field, message } = fault
    throw new NotifierError('invalid_parameter', { message, details: { field } })
  }

  /** Has the messages in categories judged again that wait. */
  function judgedAgain(organizationId: string, ...categories: readonly Category[]): RecordWrite {
    const ids = new Set(categories.flatMap(({ id, formerIds }) => [id, ...formerIds]))
    return delays.changed(organizationId, { by: 'categories', categories: [...ids] })
  }

  return {
    async create(organizationId, input) {
      const { id, ...settings } = parseSubject(categoryInput, input)
      await organizations.existing(organizationId)
      const category = categoryOf(id, settings)
      assertOwnNames(category)
      assertSound(category)
      await assertFree(organizationId, [id, ...category.formerIds], null)
      const value = { ...category, updatedAt: null }
      const record = { id: categoryRecordId(organizationId, id), organizationId, value }
      const created = await insertWithin(store, record, MOST_CATEGORIES, [
        audit.entry({ organizationId, action: 'category.created', target: id, after: value }),
      ])
      finder.forget(organizationId)
      if (created === 'taken') throw exists(id)
      if (created === 'full') throw tooMany()
      return view(created)
    },
    async get(organizationId, id) {
      assertId(id)
      await organizations.existing(organizationId)
      const declared = code.byId.get(id)
      if (declared !== undefined) return codeView(declared)
      return view((await findStored(organizationId, id)) ?? raise(unknown(id)))
    },
    async list(organizationId) {
      await organizations.existing(organizationId)
      const items = await allOf(store, organizationId)
      const stored = items.filter(({ value }) => !code.byId.has(value.id)).map(view)
      return { items: [...code.categories.map(codeView), ...stored] }
    },
    async update(organizationId, id, input) {
      const { default: wanted, version: expected, ...change } = parseSubject(categoryChange, input)
      const { id: recordId, value: before } = await changeable(organizationId, id)
      const formerIds = change.formerIds ?? []
      assertOwnNames({ id: before.id, formerIds })
      if (formerIds.length > 0) await assertFree(organizationId, formerIds, before.id)
      const cells = wanted === undefined ? {} : { default: { [ALL]: true, ...longCells(wanted) } }
      const changed = { ...definedOf(change), ...cells }
      const updated = await store.change(
        recordId,
        ({ value, revision, readAt }) => {
          if (expected !== undefined && expected !== revision) throw conflict(value.id, revision)
          const after = { ...value, ...changed, updatedAt: readAt }
          assertSound(after)
          return after
        },
        (after, { value }) => [
          ...(delaysAlike(value, after) ? [] : [judgedAgain(organizationId, value, after)]),
          ...auditedChange(audit, {
            organizationId,
            action: 'category.updated',
            target: value.id,
            before: value,
            after,
          }),
        ],
      )
      finder.forget(organizationId)
      if (typeof updated === 'string') throw unknown(String(id))
      return view(updated)
    },
    async delete(organizationId, id) {
      const { id: recordId, value } = await changeable(organizationId, id)
      const removed = await store.remove(recordId, () => [
        ...(value.quietHours ? [judgedAgain(organizationId, value)] : []),
        audit.entry({ organizationId, action: 'category.deleted', target: value.id }),
      ])
      finder.forget(organizationId)
      if (!removed) throw unknown(String(id))
    },
  }
}

/** Whether messages in a category wait as they did before. */
function delaysAlike(before: Category, after: Category): boolean {
  const what = ({ quietHours, required, formerIds }: Category) => [quietHours ?? null, required, formerIds]
  return isDeepStrictEqual(what(before), what(after))
}

function assertId(id: unknown): asserts id is string {
  if (typeof id !== 'string') throw wrong('id', CATEGORY_ID_FORM)
  if (!CATEGORY_ID.test(id)) throw unknown(id)
}

function assertOwnNames({ id, formerIds }: Pick<Category, 'id' | 'formerIds'>): void {
  if (new Set([id, ...formerIds]).size <= formerIds.length)
    throw wrong('formerIds', 'other ids than the current one, each once')
}

function conflict(id: string, version: number): NotifierError {
  return versionConflict(`The category "${id}"`, version)
}

function exists(id: string): NotifierError {
  return new NotifierError('category_already_exists', {
    message: `A category has the id or former id "${id}". Choose another id, or change the existing category.`,
    details: { field: 'id', category: id },
  })
}

function inCode(id: string): NotifierError {
  return new NotifierError('invalid_parameter', {
    message: `The category "${id}" is declared in code, in the option "categories". Change it there.`,
    details: { field: 'id', category: id },
  })
}

function always(id: string): NotifierError {
  return new NotifierError('invalid_parameter', {
    message: `The category "${id}" always exists. To change its settings, declare it in the option "categories".`,
    details: { field: 'id', category: id },
  })
}

function unknown(id: string): NotifierError {
  return new NotifierError('not_found', {
    message: `There is no category "${shortName(id)}". Check the id.`,
    details: { field: 'id' },
  })
}

function tooMany(): NotifierError {
  return new NotifierError('invalid_parameter', {
    message: `An organization has at most ${MOST_CATEGORIES} categories. Delete an unused one first.`,
    details: { field: 'id', most: MOST_CATEGORIES },
  })
}

function raise(error: NotifierError): never {
  throw error
}

function view({ value, revision, createdAt }: StoredRecord<CategoryValue>): CategoryRecord {
  const { updatedAt, ...category } = value
  return {
    ...category,
    quietHours: category.quietHours ?? null,
    source: 'stored',
    version: revision,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt ?? createdAt).toISOString(),
  }
}

function codeView(category: Category): CategoryRecord {
  const { quietHours = null } = category
  return { ...category, quietHours, source: 'code', version: null, createdAt: null, updatedAt: null }
}
