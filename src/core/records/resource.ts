import type { NotifierError } from '../errors/notifier-error.ts'
import type { Page, PageRequest } from '../ports/storage/page.ts'
import type { OrganizationFinder } from '../tenancy/plan-of.ts'
import { byId, type Owner, owned } from '../tenancy/scope.ts'
import { type List, listOf, listOfOwner, listReader } from './list.ts'

/** Where the rows of a resource are: a store of records, or a part of the storage. */
export interface Rows<Row> {
  find(ref: { readonly id: string }): Promise<Row | null>
  list(of: { readonly organizationId: Owner }, page: PageRequest): Promise<Page<Row>>
}

export interface ResourceOptions<Row, Item> {
  readonly name: string
  readonly rows: Rows<Row>
  view(row: Row): Item
  /** The error for an id without a row. */
  absent(id: string): NotifierError
}

/** What callers find by its id, and list. */
export interface Resource<Row, Item> {
  /** @throws NotifierError as {@link ResourceOptions.absent}, `organization_mismatch`, `invalid_parameter` */
  find(owner: Owner, id: string): Promise<Row>
  /** @throws NotifierError as `find` */
  get(owner: Owner, id: string): Promise<Item>
  /** @throws NotifierError `invalid_parameter`, `not_found` for an unknown organization */
  list(owner: Owner, query: unknown): Promise<List<Item>>
}

export function createResource<Row extends { readonly organizationId: Owner }, Item>(
  organizations: OrganizationFinder,
  { name, rows, view, absent }: ResourceOptions<Row, Item>,
): Resource<Row, Item> {
  const read = listReader(name, {})

  async function find(owner: Owner, id: string): Promise<Row> {
    const row = await byId(id, (known) => rows.find({ id: known }))
    return owned(row, owner, () => absent(id))
  }

  return {
    find,
    async get(owner, id) {
      return view(await find(owner, id))
    },
    async list(owner, query) {
      const { page } = read(query, owner ?? undefined)
      if (owner !== null) await organizations.readable(owner)
      const found = await rows.list({ organizationId: owner }, page)
      return listOf(listOfOwner(name, owner ?? undefined), found, page, view)
    },
  }
}
