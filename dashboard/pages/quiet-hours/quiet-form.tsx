import { useSignal } from '@preact/signals'
import { useId, useRef } from 'preact/hooks'
import { ask } from '../../app/api.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Checkbox, TextField } from '../../ui/field.tsx'
import { Form, FormActions, type FormState, useForm } from '../../ui/form.tsx'
import { Segments } from '../../ui/segments.tsx'
import { tell } from '../../ui/toast.tsx'
import {
  choiceOf,
  DAYS,
  type DraftWindow,
  draftOf,
  NIGHT,
  nameOfDay,
  type QuietChoice,
  type QuietDraft,
  type QuietOwner,
} from './quiet.ts'
import { QuietWords } from './quiet-words.tsx'

const said = texts.quietHours
const KINDS = ['hours', 'never'] as const
/** Where the server finds faults. */
const HOURS = 'quietHours'
const FIELDS = [`${HOURS}.zone`, `${HOURS}.windows`, `${HOURS}.except`]

interface Stored {
  readonly quietHours: QuietChoice
  /** Only a category has one. A change of its other fields is no conflict. */
  readonly version?: number
}

/** Asks for quiet hours, and stores them unless they have changed in the meantime. */
export function QuietForm({
  owner: { level, path, query = {} },
  choice,
  onClose,
  reload,
}: {
  readonly owner: QuietOwner
  readonly choice: QuietChoice
  readonly onClose: () => void
  readonly reload: () => Promise<void>
}) {
  const draft = useSignal(draftOf(choice))
  const base = useSignal(choice)
  const theirs = useSignal<QuietChoice | undefined>(undefined)
  const form = useForm(async () => {
    const { quietHours: stored, version } = await ask<Stored>(path, { query })
    if (JSON.stringify(stored) !== JSON.stringify(base.value)) {
      base.value = stored
      theirs.value = stored
      return
    }
    await ask(path, { method: 'PATCH', query, body: { [HOURS]: choiceOf(draft.value), version } })
    tell(said.saved)
    onClose()
    await reload()
  })
  const change = (changed: Partial<QuietDraft>): void => {
    draft.value = { ...draft.value, ...changed }
  }
  return (
    <Dialog title={said.title} onClose={onClose} wide>
      <Form state={form} fields={FIELDS}>
        {theirs.value === undefined ? null : (
          <div class="note warn" role="alert">
            <div>
              <p>{said.conflict}</p>
              <QuietWords of={theirs.value} none={said.unset[level]} />
            </div>
            <Button
              onClick={() => {
                draft.value = draftOf(base.value)
                theirs.value = undefined
              }}
            >
              {said.useTheirs}
            </Button>
          </div>
        )}
        {level === 'category' ? null : (
          <Segments
            label={said.choice}
            value={draft.value.kind}
            choices={KINDS.map((value) => ({ value, label: said.kinds[value] }))}
            onValue={(kind) => change({ kind })}
          />
        )}
        {draft.value.kind === 'never' ? (
          <p>{said.neverHint[level === 'person' ? 'person' : 'organization']}</p>
        ) : (
          <>
            <Zone zone={draft.value.zone} form={form} onZone={(zone) => change({ zone })} />
            <Windows windows={draft.value.windows} form={form} onWindows={(windows) => change({ windows })} />
            <Dates dates={draft.value.except} form={form} onDates={(except) => change({ except })} />
          </>
        )}
        <FormActions state={form} onCancel={onClose}>
          {theirs.value === undefined ? texts.actions.save : said.saveMine}
        </FormActions>
      </Form>
    </Dialog>
  )
}

function Zone({
  zone,
  form,
  onZone,
}: {
  readonly zone: string
  readonly form: FormState
  readonly onZone: (zone: string) => void
}) {
  const names = useId()
  return (
    <>
      <TextField
        label={said.zone}
        hint={said.zoneHint}
        error={form.errorOf(`${HOURS}.zone`)}
        value={zone}
        list={names}
        autoComplete="off"
        spellcheck={false}
        onValue={onZone}
      />
      <datalist id={names}>
        {Intl.supportedValuesOf('timeZone').map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  )
}

/** The fault of a list itself, not of one of its items. */
function OwnError({ form, field }: { readonly form: FormState; readonly field: string }) {
  return form.error?.details.field === field ? (
    <p class="error" role="alert">
      {form.error.message}
    </p>
  ) : null
}

function Windows({
  windows,
  form,
  onWindows,
}: {
  readonly windows: readonly DraftWindow[]
  readonly form: FormState
  readonly onWindows: (windows: readonly DraftWindow[]) => void
}) {
  const field = `${HOURS}.windows`
  const list = useRef<HTMLDivElement>(null)
  return (
    <div ref={list} class="quiet-list" tabIndex={-1}>
      {windows.map((window, at) => (
        <Window
          // Windows have no id, and equal ones may stand side by side.
          key={at}
          number={at + 1}
          of={window}
          form={form}
          field={`${field}.${at}`}
          onChange={(changed) =>
            onWindows(windows.map((each, other) => (other === at ? { ...each, ...changed } : each)))
          }
          onRemove={() => {
            onWindows(windows.filter((_, other) => other !== at))
            list.current?.focus()
          }}
        />
      ))}
      <OwnError form={form} field={field} />
      <p>
        <Button icon="plus" onClick={() => onWindows([...windows, NIGHT])}>
          {said.addWindow}
        </Button>
      </p>
    </div>
  )
}

function Window({
  number,
  of: { days, from, to },
  form,
  field,
  onChange,
  onRemove,
}: {
  readonly number: number
  readonly of: DraftWindow
  readonly form: FormState
  readonly field: string
  readonly onChange: (changed: Partial<DraftWindow>) => void
  readonly onRemove: () => void
}) {
  const title = useId()
  const wrongDays = form.errorOf(`${field}.days`)
  return (
    <fieldset class="card quiet-window" aria-labelledby={title}>
      <header class="part-head">
        <h3 id={title}>{said.window(number)}</h3>
        <Button kind="quiet" icon="trash" label={said.removeWindow(number)} onClick={onRemove} />
      </header>
      <div class="row">
        <TextField
          label={said.from}
          error={form.errorOf(`${field}.from`)}
          type="time"
          value={from}
          onValue={(value) => onChange({ from: value })}
        />
        <TextField
          label={said.to}
          hint={to !== '' && to < from ? said.nextDay : undefined}
          error={form.errorOf(`${field}.to`)}
          type="time"
          value={to}
          onValue={(value) => onChange({ to: value })}
        />
      </div>
      <fieldset>
        <legend>{said.days}</legend>
        <div class="row">
          {DAYS.map((day) => (
            <Checkbox
              key={day}
              label={nameOfDay(day)}
              checked={days.includes(day)}
              onValue={(chosen) =>
                onChange({ days: DAYS.filter((each) => (each === day ? chosen : days.includes(each))) })
              }
            />
          ))}
        </div>
        {wrongDays === null ? null : (
          <p class="error" role="alert">
            {wrongDays}
          </p>
        )}
      </fieldset>
    </fieldset>
  )
}

function Dates({
  dates,
  form,
  onDates,
}: {
  readonly dates: readonly string[]
  readonly form: FormState
  readonly onDates: (dates: readonly string[]) => void
}) {
  const field = `${HOURS}.except`
  const list = useRef<HTMLFieldSetElement>(null)
  return (
    <fieldset ref={list} class="quiet-list" tabIndex={-1}>
      <legend>{said.except}</legend>
      <p class="hint">{said.exceptHint}</p>
      <div class="row">
        {dates.map((date, at) => (
          // Dates have no id, and an empty one may stand beside another.
          <div key={at} class="removable">
            <TextField
              label={said.date(at + 1)}
              error={form.errorOf(`${field}.${at}`)}
              type="date"
              value={date}
              onValue={(value) => onDates(dates.map((each, other) => (other === at ? value : each)))}
            />
            <Button
              kind="quiet"
              icon="trash"
              label={said.removeDate(at + 1)}
              onClick={() => {
                onDates(dates.filter((_, other) => other !== at))
                list.current?.focus()
              }}
            />
          </div>
        ))}
      </div>
      <OwnError form={form} field={field} />
      <p>
        <Button icon="plus" onClick={() => onDates([...dates, ''])}>
          {said.addDate}
        </Button>
      </p>
    </fieldset>
  )
}
