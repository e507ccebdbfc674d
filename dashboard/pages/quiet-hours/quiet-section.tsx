import { useSignal } from '@preact/signals'
import { may, type Session } from '../../app/session.ts'
import { texts } from '../../texts/index.ts'
import type { QuietChoice, QuietOwner } from './quiet.ts'
import { QuietActions } from './quiet-actions.tsx'
import { QuietForm } from './quiet-form.tsx'
import { QuietWords } from './quiet-words.tsx'

const said = texts.quietHours

/** The quiet hours of a person or an organization. */
export function QuietSection({
  title,
  hint,
  owner,
  choice,
  needs,
  reload,
}: {
  readonly title: string
  readonly hint: string
  readonly owner: QuietOwner
  readonly choice: QuietChoice
  /** The permission that a change needs. */
  readonly needs: Session['permission']
  readonly reload: () => Promise<void>
}) {
  const editing = useSignal(false)
  const edit = (open: boolean) => (): void => {
    editing.value = open
  }
  return (
    <section class="part" aria-labelledby="quiet">
      <header class="part-head">
        <h2 id="quiet">{title}</h2>
        {may(needs) ? (
          <QuietActions owner={owner} choice={choice} onEdit={edit(true)} reload={reload} />
        ) : null}
      </header>
      <div class="card">
        <QuietWords of={choice} none={said.unset[owner.level]} />
      </div>
      <p class="hint">{hint}</p>
      {editing.value ? (
        <QuietForm owner={owner} choice={choice} onClose={edit(false)} reload={reload} />
      ) : null}
    </section>
  )
}
