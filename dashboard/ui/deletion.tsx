import { ask } from '../app/api.ts'
import { may } from '../app/session.ts'
import { texts } from '../texts/index.ts'
import { Button } from './button.tsx'
import { confirm } from './dialog.tsx'
import type { Column } from './list.tsx'
import { tell } from './toast.tsx'

/** A column of buttons that delete the item of their row. Empty: the reader may not. */
export function deletionColumn<Item>(
  nameOf: (item: Item) => string,
  remove: (item: Item) => unknown,
): Column<Item>[] {
  if (!may('Full Access')) return []
  const title = texts.actions.delete
  const cell = (item: Item) => (
    <Button kind="quiet" icon="trash" label={`${title}: ${nameOf(item)}`} onClick={() => remove(item)} />
  )
  return [{ title, quiet: true, end: true, cell }]
}

/** Deletes the resource of a path after a confirmation. False: the reader declined. */
export async function deleteConfirmed(
  path: string,
  { title, hint, done }: { readonly title: string; readonly hint: string; readonly done: string },
): Promise<boolean> {
  if (!(await confirm({ title, hint, confirm: texts.actions.delete, danger: true }))) return false
  await ask(path, { method: 'DELETE' })
  tell(done)
  return true
}
