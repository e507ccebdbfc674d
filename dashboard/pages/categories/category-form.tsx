import { useSignal } from '@preact/signals'
import { ask } from '../../app/api.ts'
import { texts } from '../../texts/index.ts'
import { settings } from '../../texts/settings.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Checkbox, TextField } from '../../ui/field.tsx'
import { Form, FormActions, useForm } from '../../ui/form.tsx'
import { tell } from '../../ui/toast.tsx'
import { type Category, channelsWith, isOn } from './category.ts'

const said = settings.categories
const TEXTS = ['name', 'description', 'from', 'listId'] as const
const ALL_ON = { '*': true }

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
  const cells = category?.default ?? ALL_ON
  const channels = channelsWith(cells)
  const id = useSignal('')
  const written = useSignal({
    name: category?.name ?? '',
    description: category?.description ?? '',
    from: category?.from ?? '',
    listId: category?.listId ?? '',
  })
  const required = useSignal(category?.required ?? false)
  const on = useSignal<readonly string[]>(channels.filter((channel) => isOn(cells, channel)))

  function changes(): object {
    const own = TEXTS.filter((field) => written.value[field] !== (category?.[field] ?? ''))
    const wasOn = channels.filter((channel) => isOn(cells, channel))
    const sends = required.value ? channels : on.value
    return {
      ...Object.fromEntries(own.map((field) => [field, written.value[field] || null])),
      ...(required.value === (category?.required ?? false) ? {} : { required: required.value }),
      ...(sends.length === wasOn.length && sends.every((channel) => wasOn.includes(channel))
        ? {}
        : { default: cellsOf(channels, sends) }),
    }
  }
  const form = useForm(async () => {
    if (category === null)
      await ask('/v1/categories', { method: 'POST', body: { id: id.value.trim(), ...changes() } })
    else await ask(`/v1/categories/${category.id}`, { method: 'PATCH', body: changes() })
    tell(said.saved)
    await onSaved()
    onClose()
  })
  const field = (name: (typeof TEXTS)[number]) => ({
    error: form.errorOf(name),
    value: written.value[name],
    autoComplete: 'off',
    onValue: (value: string) => {
      written.value = { ...written.peek(), [name]: value }
    },
  })
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
          checked={required.value}
          onValue={(value) => {
            required.value = value
          }}
        />
        {required.value ? null : (
          <fieldset class="choices">
            <legend>{said.default}</legend>
            <p class="whole">{said.defaultHint}</p>
            {channels.map((channel) => (
              <Checkbox
                key={channel}
                label={channel}
                checked={on.value.includes(channel)}
                onValue={(value) => {
                  const others = on.peek().filter((name) => name !== channel)
                  on.value = value ? [...others, channel] : others
                }}
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

/** In the shortest form. */
function cellsOf(channels: readonly string[], on: readonly string[]): boolean | Record<string, boolean> {
  if (on.length === channels.length) return true
  if (on.length === 0) return false
  return Object.fromEntries(channels.map((channel) => [channel, on.includes(channel)]))
}
