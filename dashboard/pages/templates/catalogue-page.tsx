import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ApiError, ask } from '../../app/api.ts'
import { may } from '../../app/session.ts'
import { useData } from '../../app/use-data.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea, TextField } from '../../ui/field.tsx'
import { Form, useForm, useUnsaved } from '../../ui/form.tsx'
import { Page } from '../../ui/page.tsx'
import { ErrorNote, Loading } from '../../ui/states.tsx'
import { tell } from '../../ui/toast.tsx'
import { Conflict } from './conflict.tsx'
import { TextNav } from './text-nav.tsx'

const said = texts.templates.catalogues
/** Fields on the page at once. */
const MOST_SHOWN = 50

type Messages = Readonly<Record<string, string>>

interface Catalogue {
  readonly version: number
  readonly messages: Messages
}

/** The catalogue of a locale; a locale without one has an empty one. */
export function CataloguePage({
  params: { id = '' },
}: {
  readonly params: Readonly<Record<string, string>>
}) {
  const path = `/v1/messages/${encodeURIComponent(id)}`
  const { value, error, reload } = useData<Catalogue>(path)
  const isNew = error?.status === 404
  if (value === null && !isNew) {
    return <Page title={id}>{error === null ? <Loading /> : <ErrorNote error={error} retry={reload} />}</Page>
  }
  return (
    <CatalogueEditor
      key={id}
      locale={id}
      path={path}
      stored={isNew ? EMPTY : (value ?? EMPTY)}
      reload={reload}
    />
  )
}

/** Texts by key. Null: the message is removed. */
type Edits = Readonly<Record<string, string | null>>

const EMPTY: Catalogue = { version: 0, messages: {} }

function CatalogueEditor({
  locale,
  path,
  stored,
  reload,
}: {
  readonly locale: string
  readonly path: string
  readonly stored: Catalogue
  readonly reload: () => Promise<void>
}) {
  const base = useSignal(stored)
  const edits = useSignal<Edits>({})
  const conflict = useSignal<Catalogue | null>(null)
  const search = useSignal('')
  const added = useSignal('')
  const changed = Object.keys(edits.value).length > 0
  useUnsaved(changed)
  useEffect(() => {
    if (!changed) base.value = stored
  }, [stored])

  const messages = edited(base.value, edits.value)
  const wanted = search.value.trim().toLowerCase()
  const found = Object.entries(messages)
    .filter(([key, text]) => `${key}\n${text}`.toLowerCase().includes(wanted))
    .sort(([one], [other]) => (one < other ? -1 : 1))
  function adopt(catalogue: Catalogue): void {
    base.value = catalogue
    edits.value = {}
    conflict.value = null
  }
  const form = useForm(async () => {
    const basis = conflict.peek() ?? base.peek()
    try {
      const body = { messages: edited(basis, edits.peek()), version: basis.version }
      adopt(await ask<Catalogue>(path, { method: 'PUT', body }))
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'version_conflict')) throw error
      conflict.value = await ask<Catalogue>(path)
      return
    }
    tell(said.saved)
    await reload()
  })
  const edit = (key: string, text: string | null): void => {
    const { [key]: _, ...rest } = edits.peek()
    const before = base.peek().messages[key] ?? null
    edits.value = text === before ? rest : { ...rest, [key]: text }
  }
  function add(): void {
    const key = added.value.trim()
    if (key === '' || messages[key] !== undefined) return
    edit(key, '')
    added.value = ''
    search.value = key
  }
  const readOnly = !may('Write')
  const theirs = conflict.value
  const actions = (
    <>
      {changed ? (
        <Button
          onClick={() => {
            edits.value = {}
          }}
        >
          {texts.templates.discard}
        </Button>
      ) : null}
      <Button kind="primary" busy={form.busy} disabled={!changed} onClick={form.submit}>
        {texts.actions.save}
      </Button>
    </>
  )
  return (
    <Page
      title={said.of(locale)}
      intro={said.size(Object.keys(messages).length)}
      actions={readOnly ? undefined : actions}
    >
      <TextNav />
      <div class="filters">
        <TextField
          type="search"
          label={said.search}
          value={search.value}
          onValue={(value) => {
            search.value = value
          }}
        />
        {readOnly ? null : (
          <>
            <TextField
              label={said.key}
              value={added.value}
              autoComplete="off"
              spellcheck={false}
              onValue={(value) => {
                added.value = value
              }}
            />
            <Button icon="plus" disabled={added.value.trim() === ''} onClick={add}>
              {said.add}
            </Button>
          </>
        )}
      </div>
      <Form state={form} fields={found.slice(0, MOST_SHOWN).map(([key]) => `messages.${key}`)}>
        <div class="catalogue">
          {found.slice(0, MOST_SHOWN).map(([key, text]) => (
            <div key={key}>
              <TextArea
                label={key}
                rows={2}
                error={form.errorOf(`messages.${key}`)}
                value={text}
                readOnly={readOnly}
                onValue={(value) => edit(key, value)}
              />
              {readOnly ? null : (
                <Button kind="quiet" icon="trash" label={said.remove(key)} onClick={() => edit(key, null)} />
              )}
            </div>
          ))}
        </div>
      </Form>
      {found.length > MOST_SHOWN ? <p class="hint">{said.more(found.length - MOST_SHOWN)}</p> : null}
      {found.length === 0 ? <p class="muted">{wanted === '' ? said.none : texts.list.noMatch}</p> : null}
      <p class="hint">{said.hint}</p>
      {theirs === null ? null : (
        <Conflict
          theirs={theirs}
          stored={theirs.messages}
          merged={edited(theirs, edits.value)}
          nameOf={(key) => key}
          onClose={() => {
            conflict.value = null
          }}
          onTheirs={() => adopt(theirs)}
          onMine={form.submit}
        />
      )}
    </Page>
  )
}

function edited({ messages }: Catalogue, edits: Edits): Messages {
  return Object.fromEntries(
    Object.entries({ ...messages, ...edits }).flatMap(([key, text]) => (text === null ? [] : [[key, text]])),
  )
}
