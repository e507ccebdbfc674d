import { useSignal } from '@preact/signals'
import { hrefOf, navigate } from '../../app/router.ts'
import { inOrganization, may } from '../../app/session.ts'
import { useAction } from '../../app/use-action.ts'
import { useData } from '../../app/use-data.ts'
import { useList } from '../../app/use-list.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { deleteConfirmed, deletionColumn } from '../../ui/deletion.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Form, FormActions, useForm } from '../../ui/form.tsx'
import { type Column, List, Table } from '../../ui/list.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty, ErrorNote, Loading } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { canonicalLocale, LocaleField } from './locale-field.tsx'
import { TextNav } from './text-nav.tsx'

const said = texts.templates.catalogues

interface Summary {
  readonly locale: string
  readonly version: number
  readonly count: number
  readonly updatedAt: string
}

interface Missing {
  readonly id: string
  readonly name: string
  readonly missing: readonly {
    readonly locale: string
    readonly variant: boolean
    readonly keys: readonly string[]
  }[]
}

const pathOf = (locale: string): string => inOrganization(`/templates/messages/${encodeURIComponent(locale)}`)

/** The messages that templates take from catalogues, by locale. */
export function CataloguesPage() {
  const { value, error, reload } = useData<{ readonly items: readonly Summary[] }>('/v1/messages')
  const action = useAction()
  const adding = useSignal(false)
  const create = (
    <Button
      kind="primary"
      icon="plus"
      onClick={() => {
        adding.value = true
      }}
    >
      {said.create}
    </Button>
  )

  const remove = ({ locale }: Summary): Promise<void> =>
    action.run(async () => {
      const confirmation = { title: said.deleteTitle(locale), hint: said.deleteHint, done: said.deleted }
      if (await deleteConfirmed(`/v1/messages/${encodeURIComponent(locale)}`, confirmation)) await reload()
    })

  const columns: Column<Summary>[] = [
    { title: said.locale, main: true, cell: ({ locale }) => <a href={hrefOf(pathOf(locale))}>{locale}</a> },
    { title: said.count, end: true, cell: ({ count }) => count },
    { title: texts.templates.version, end: true, cell: ({ version }) => version },
    { title: texts.templates.changed, end: true, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
    ...deletionColumn<Summary>(({ locale }) => locale, remove),
  ]
  return (
    <Page title={said.title} intro={said.intro} actions={may('Write') ? create : undefined}>
      <TextNav />
      {action.error === null ? null : <ErrorNote error={action.error} />}
      {error === null ? null : <ErrorNote error={error} retry={reload} />}
      {value === null ? (
        error === null ? (
          <Loading />
        ) : null
      ) : value.items.length === 0 ? (
        <Empty icon="templates" title={said.empty}>
          <p>{said.emptyHint}</p>
        </Empty>
      ) : (
        <>
          <Table label={said.title} items={value.items} columns={columns} keyOf={({ locale }) => locale} />
          <MissingTranslations />
        </>
      )}
      {adding.value ? (
        <NewCatalogue
          onClose={() => {
            adding.value = false
          }}
        />
      ) : null}
    </Page>
  )
}

const MISSING_COLUMNS: readonly Column<Missing>[] = [
  {
    title: texts.templates.one,
    main: true,
    cell: ({ id, name }) => <a href={hrefOf(inOrganization(`/templates/${id}`))}>{name}</a>,
  },
  {
    title: said.missing,
    cell: ({ missing }) =>
      missing.map(({ locale, variant, keys }) => (
        <div key={locale}>
          <strong>{locale}</strong>: {[...(variant ? [said.variantMissing] : []), ...keys].join(', ')}
        </div>
      )),
  },
]

function MissingTranslations() {
  const state = useList<Missing>('/v1/missing-translations', { query: { limit: '20' }, everyMs: 30_000 })
  return (
    <section class="part" aria-labelledby="missing-title">
      <h2 id="missing-title">{said.missingTitle}</h2>
      <List
        label={said.missingTitle}
        state={state}
        columns={MISSING_COLUMNS}
        empty={<p class="muted">{said.noneMissing}</p>}
      />
    </section>
  )
}

/** Asks for the locale of a new catalogue, which is saved with its first message. */
function NewCatalogue({ onClose }: { readonly onClose: () => void }) {
  const name = useSignal('')
  const wrong = useSignal<string | null>(null)
  const form = useForm(async () => {
    const locale = canonicalLocale(name.value.trim())
    wrong.value = locale === null ? texts.templates.badLocale : null
    if (locale !== null) await navigate(pathOf(locale))
  })
  return (
    <Dialog title={said.create} onClose={onClose}>
      <Form state={form} fields={[]}>
        <LocaleField name={name} error={wrong.value} label={said.locale} hint={said.localeHint} />
        <FormActions state={form} onCancel={onClose}>
          {texts.actions.create}
        </FormActions>
      </Form>
    </Dialog>
  )
}
