import { ask } from '../../app/api.ts'
import { useAction } from '../../app/use-action.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { ErrorNote } from '../../ui/states.tsx'
import { tell } from '../../ui/toast.tsx'
import type { QuietChoice, QuietOwner } from './quiet.ts'

const said = texts.quietHours

/** Buttons that change or remove quiet hours. */
export function QuietActions({
  owner,
  choice,
  onEdit,
  reload,
}: {
  readonly owner: QuietOwner
  readonly choice: QuietChoice
  readonly onEdit: () => void
  readonly reload: () => Promise<void>
}) {
  const actions = useAction()
  const { level, path, query = {}, name } = owner

  const remove = () =>
    actions.run(async () => {
      const sure = await confirm({
        title: said.removeTitle(name),
        hint: said.removeHint[level],
        confirm: said.remove,
        danger: true,
      })
      if (!sure) return
      await ask(path, { method: 'PATCH', query, body: { quietHours: null } })
      tell(said.removed)
      await reload()
    })
  return (
    <>
      <span class="actions">
        <Button
          icon={choice === null ? 'plus' : 'edit'}
          label={`${choice === null ? said.set : texts.actions.edit}: ${name}`}
          onClick={onEdit}
        >
          {choice === null ? said.set : texts.actions.edit}
        </Button>
        {choice === null ? null : (
          <Button icon="trash" label={`${said.remove}: ${name}`} onClick={remove}>
            {said.remove}
          </Button>
        )}
      </span>
      {actions.error === null ? null : <ErrorNote error={actions.error} />}
    </>
  )
}
