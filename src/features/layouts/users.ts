import { setImmediate as nextTurn } from 'node:timers/promises'
import type { StoredRecord } from '../../core/ports/storage/records.ts'
import type { RecordStore } from '../../core/records/record-stores.ts'
import type { StoredTemplate } from '../../core/text/kind.ts'
import type { SharedText } from '../../core/text/shared-text.ts'
import type { TextUser } from './model.ts'
import type { StoredShared } from './records.ts'

/** Maximum number of users that an error lists. */
const MOST_USERS = 10
/** Rows per read: a synchronous storage blocks the process meanwhile. */
const ROWS = 50

interface Used {
  readonly templates: RecordStore<StoredTemplate>
  readonly shared: RecordStore<StoredShared>
}

/** The first templates, layouts and partials of the organization that name the text. */
export async function usersOf(
  { role, name, organizationId }: Pick<SharedText, 'role' | 'name' | 'organizationId'>,
  { templates, shared }: Used,
): Promise<TextUser[]> {
  const names = (uses: readonly string[] | undefined) => role === 'partial' && uses?.includes(name) === true
  const users: TextUser[] = []
  const collect = <Value extends object>(
    store: RecordStore<Value>,
    view: (record: StoredRecord<Value>) => TextUser | null,
  ) => collectUsers(store, organizationId, view, users)
  await collect(templates, ({ id, value }) =>
    names(value.uses) || (role === 'layout' && value.layout === name)
      ? { type: 'template', id, name: value.name }
      : null,
  )
  await collect(shared, ({ id, value }) =>
    names(value.uses) ? { type: value.role, id, name: value.name } : null,
  )
  return users
}

async function collectUsers<Value extends object>(
  store: RecordStore<Value>,
  organizationId: string | null,
  view: (record: StoredRecord<Value>) => TextUser | null,
  users: TextUser[],
): Promise<void> {
  let cursor: string | undefined
  while (users.length < MOST_USERS) {
    const page = await store.list({ organizationId }, { limit: ROWS, offset: 0, cursor })
    for (const record of page.items) {
      const user = view(record)
      if (user !== null && users.length < MOST_USERS) users.push(user)
    }
    if (page.nextCursor === null) return
    cursor = page.nextCursor
    await nextTurn()
  }
}
