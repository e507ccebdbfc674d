import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ask } from '../../app/api.ts'
import { usePoll } from '../../app/poll.ts'
import { useAction } from '../../app/use-action.ts'
import { texts } from '../../texts/index.ts'
import { settings } from '../../texts/settings.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form, FormActions, useForm } from '../../ui/form.tsx'
import { count } from '../../ui/number.ts'
import { ErrorNote, Loading } from '../../ui/states.tsx'

const said = settings.recipients
const PATH = '/v1/erasures'
const EVERY_MS = 5_000

type Counts = Readonly<Record<keyof typeof said.counts, number>>

interface Erasure {
  /** Null: a dry run. */
  readonly id: string | null
  readonly status: 'running' | 'completed' | 'dry_run'
  readonly counts: Counts
}

/** Erases a recipient, once the counts were shown and the name was typed. */
export function EraseForm({
  named,
  name,
  onClose,
}: {
  readonly named: Readonly<Record<string, string>>
  readonly name: string
  readonly onClose: () => void
}) {
  const erasure = useSignal<Erasure | null>(null)
  const typed = useSignal('')
  const counting = useAction()
  const begin = async (dryRun: boolean) => {
    erasure.value = await ask<Erasure>(PATH, { method: 'POST', body: { ...named, dryRun } })
  }
  useEffect(() => void counting.run(() => begin(true)), [])
  const form = useForm(() => begin(false))
  const now = erasure.value
  const isDry = now === null || now.status === 'dry_run'
  return (
    <Dialog title={said.eraseTitle(name)} onClose={onClose}>
      {counting.error === null ? null : <ErrorNote error={counting.error} />}
      {now === null && counting.error === null ? <Loading /> : null}
      {now === null ? null : <CountsOf counts={now.counts} />}
      {now?.status === 'running' && now.id !== null ? (
        <Progress
          id={now.id}
          onChange={(next) => {
            erasure.value = next
          }}
        />
      ) : null}
      {now?.status === 'completed' ? (
        <p class="note good" role="status">
          {said.erased}
        </p>
      ) : null}
      {isDry ? (
        <Form state={form} fields={[]}>
          <p>{said.eraseHint}</p>
          <TextField
            label={said.typeName(name)}
            value={typed.value}
            mono
            spellcheck={false}
            autoComplete="off"
            onValue={(value) => {
              typed.value = value
            }}
          />
          <FormActions
            state={form}
            onCancel={onClose}
            kind="danger"
            disabled={now === null || typed.value !== name}
          >
            {said.erase}
          </FormActions>
        </Form>
      ) : (
        <DialogActions>
          <Button onClick={onClose}>{texts.actions.close}</Button>
        </DialogActions>
      )}
    </Dialog>
  )
}

function Progress({ id, onChange }: { readonly id: string; readonly onChange: (next: Erasure) => void }) {
  const path = `${PATH}/${encodeURIComponent(id)}`
  usePoll(async (signal) => onChange(await ask<Erasure>(path, { signal })), id, EVERY_MS)
  return (
    <p class="note" role="status">
      {said.erasing}
    </p>
  )
}

function CountsOf({ counts }: { readonly counts: Counts }) {
  const some = (Object.keys(said.counts) as (keyof Counts)[]).filter((name) => counts[name] > 0)
  if (some.length === 0) return <p class="muted">{said.nothing}</p>
  return (
    <dl class="facts">
      {some.flatMap((name) => [
        <dt key={name}>{said.counts[name]}</dt>,
        <dd key={`of ${name}`}>{count(counts[name])}</dd>,
      ])}
    </dl>
  )
}
