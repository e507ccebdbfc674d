import { useSignal } from '@preact/signals'
import { ApiError, ask } from '../../app/api.ts'
import { texts } from '../../texts/index.ts'
import { settings } from '../../texts/settings.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Checkbox, TextField } from '../../ui/field.tsx'
import { Form, FormActions, useForm } from '../../ui/form.tsx'
import { tell } from '../../ui/toast.tsx'
import { Conflict } from '../templates/conflict.tsx'
import { type Category, channelsWith, isOn } from './category.ts'

const said = settings.categories
const TEXTS = ['name', 'description', 'from', 'listId'] as const

/** What the form holds. */
interface Draft extends Readonly<Record<(typeof TEXTS)[number], string>> {
  readonly required: boolean
  /** The channels on which it is sent without a preference. */
  readonly on: readonly string[]
}

/** Creates a category, or changes what is different. */
export function CategoryForm({
  category,
  onSaved,
  onClose,
}: {
  /** Null: a new one. */
  readonly category: Category | null
  readonly onSaved: () => Promise<void>
  readonly onClose: () => void
}) {
  const id = useSignal('')
  const base = useSignal(category)
  const draft = useSignal(draftOf(category))
  const conflict = useSignal<Category | null>(null)
  const channels = channelsOf(base.value)

  /** Continues on the basis of what is stored. */
  function rebase(stored: Category, text: Draft): void {
    base.value = stored
    draft.value = text
    conflict.value = null
  }
  const form = useForm(async () => {
    const stored = base.peek()
    const body = changesOf(draft.peek(), stored)
    if (stored === null) {
      await ask('/v1/categories', { method: 'POST', body: { id: id.value.trim(), ...body } })
    } else {
      const path = `/v1/categories/${stored.id}`
      try {
        await ask(path, { method: 'PATCH', body: { ...body, version: stored.version } })
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 'version_conflict')) throw error
        conflict.value = await ask<Category>(path)
        return
      }
    }
    tell(said.saved)
    await onSaved()
    onClose()
  })
  const change = (changed: Partial<Draft>): void => {
    draft.value = { ...draft.peek(), ...changed }
  }
  const field = (name: (typeof TEXTS)[number]) => ({
    error: form.errorOf(name),
    value: draft.value[name],
    autoComplete: 'off',
    onValue: (value: string) => change({ [name]: value }),
  })
  const theirs = conflict.value
  if (theirs !== null) {
    const merged = { ...draftOf(theirs), ...ownOf(draft.value, base.value) }
    return (
      <Conflict
        theirs={{ version: theirs.version ?? 0 }}
        stored={textsOf(draftOf(theirs))}
        merged={textsOf(merged)}
        nameOf={(name) => said[name as keyof ReturnType<typeof textsOf>]}
        onClose={() => {
          conflict.value = null
        }}
        onTheirs={() => rebase(theirs, draftOf(theirs))}
        onMine={() => {
          rebase(theirs, merged)
          return form.submit()
        }}
      />
    )
  }
  const { required, on } = draft.value
  return (
    <Dialog title={category === null ? said.create : said.edit(category.name)} onClose={onClose}>
      <Form state={form} fields={['id', ...TEXTS]}>
        {category === null ? (
          <TextField
            label={said.id}
            hint={said.idHint}
            error={form.errorOf('id')}
            value={id.value}
            autoFocus
            autoComplete="off"
            spellcheck={false}
            onValue={(value) => {
              id.value = value
            }}
          />
        ) : null}
        <TextField label={said.name} hint={said.nameHint} {...field('name')} />
        <TextField label={said.description} hint={said.descriptionHint} {...field('description')} />
        <Checkbox
          label={said.required}
          hint={said.requiredHint}
          checked={required}
          onValue={(value) => change(value ? { required: true, on: channels } : { required: false })}
        />
        {required ? null : (
          <fieldset class="choices">
            <legend>{said.default}</legend>
            <p class="whole">{said.defaultHint}</p>
            {channels.map((channel) => (
              <Checkbox
                key={channel}
                label={channel}
                checked={on.includes(channel)}
                onValue={(value) =>
                  change({ on: channels.filter((each) => (each === channel ? value : on.includes(each))) })
                }
              />
            ))}
          </fieldset>
        )}
        <TextField label={said.from} hint={said.fromHint} {...field('from')} spellcheck={false} />
        <TextField label={said.listId} hint={said.listIdHint} {...field('listId')} spellcheck={false} />
        <FormActions state={form} onCancel={onClose}>
          {category === null ? texts.actions.create : texts.actions.save}
        </FormActions>
      </Form>
    </Dialog>
  )
}

function channelsOf(category: Category | null): readonly string[] {
  return channelsWith(category?.default ?? {})
}

/** @param category null: a new one */
function draftOf(category: Category | null): Draft {
  return {
    name: category?.name ?? '',
    description: category?.description ?? '',
    from: category?.from ?? '',
    listId: category?.listId ?? '',
    required: category?.required ?? false,
    on: channelsOf(category).filter((channel) => isOn(category?.default ?? {}, channel)),
  }
}

/** What the author has changed. */
function ownOf(draft: Draft, category: Category | null): Partial<Draft> {
  const before = draftOf(category)
  const fields = [...TEXTS, 'required', 'on'] as const
  const changed = fields.filter((field) => String(draft[field]) !== String(before[field]))
  return Object.fromEntries(changed.map((field) => [field, draft[field]]))
}

/** The fields of a request; empty texts are null. */
function changesOf(draft: Draft, category: Category | null): object {
  const { on, ...own } = ownOf(draft, category)
  return {
    ...Object.fromEntries(Object.entries(own).map(([field, value]) => [field, value === '' ? null : value])),
    ...(on === undefined ? {} : { default: cellsOf(channelsOf(category), on) }),
  }
}

/** For a comparison, each channel in its line. */
function textsOf({ name, description, required, on, from, listId }: Draft) {
  return { name, description, required: required ? said.required : '', default: on.join('\n'), from, listId }
}

/** In the shortest form. */
function cellsOf(channels: readonly string[], on: readonly string[]): boolean | Record<string, boolean> {
  if (on.length === channels.length) return true
  if (on.length === 0) return false
  return Object.fromEntries(channels.map((channel) => [channel, on.includes(channel)]))
}
