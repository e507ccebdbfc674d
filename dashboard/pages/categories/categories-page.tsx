import { useSignal } from '@preact/signals'
import { may } from '../../app/session.ts'
import { useAction } from '../../app/use-action.ts'
import { useData } from '../../app/use-data.ts'
import { texts } from '../../texts/index.ts'
import { settings } from '../../texts/settings.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { deleteConfirmed } from '../../ui/deletion.tsx'
import { type Column, Table } from '../../ui/list.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty, ErrorNote, Loading } from '../../ui/states.tsx'
import { type Category, channelsWith, isOn } from './category.ts'
import { CategoryForm } from './category-form.tsx'
import { OrganizationPreferences } from './organization-preferences.tsx'

const said = settings.categories

const COLUMNS: readonly Column<Category>[] = [
  {
    title: said.name,
    main: true,
    cell: ({ id, name, description }) => (
      <>
        {name} <code class="muted">{id}</code>
        {description === null ? null : <p class="muted clip">{description}</p>}
      </>
    ),
  },
  {
    title: said.default,
    cell: ({ required, default: cells }) =>
      required ? (
        <Badge tone="info">{said.required}</Badge>
      ) : (
        said.summary(
          channelsWith(cells).filter((channel) => isOn(cells, channel)),
          channelsWith(cells).filter((channel) => !isOn(cells, channel)),
        )
      ),
  },
  {
    title: said.from,
    cell: ({ from }) =>
      from === null ? <span class="muted">{said.ofProvider}</span> : <span class="long">{from}</span>,
  },
]

/** The categories of messages, and what the organization has chosen for all its people. */
export function CategoriesPage() {
  const { value, error, reload } = useData<{ readonly items: readonly Category[] }>('/v1/categories')
  const action = useAction()
  // Not in the row, which may go while the form is open.
  const editing = useSignal<Category | 'new' | null>(null)
  const mayChange = may('Full Access')

  const remove = ({ id, name }: Category): Promise<void> =>
    action.run(async () => {
      const confirmation = { title: said.deleteTitle(name), hint: said.deleteHint, done: said.deleted }
      if (await deleteConfirmed(`/v1/categories/${id}`, confirmation)) await reload()
    })

  const buttons: Column<Category> = {
    title: texts.actions.edit,
    quiet: true,
    end: true,
    cell: (category) =>
      category.source === 'code' ? (
        <span class="muted">{said.inCode}</span>
      ) : (
        <span class="actions">
          <Button
            label={`${texts.actions.edit}: ${category.name}`}
            onClick={() => {
              editing.value = category
            }}
          >
            {texts.actions.edit}
          </Button>
          <Button
            kind="quiet"
            icon="trash"
            label={`${texts.actions.delete}: ${category.name}`}
            onClick={() => remove(category)}
          />
        </span>
      ),
  }
  const create = (
    <Button
      kind="primary"
      icon="plus"
      onClick={() => {
        editing.value = 'new'
      }}
    >
      {said.create}
    </Button>
  )
  return (
    <Page title={said.title} intro={said.intro} actions={mayChange ? create : undefined}>
      {action.error === null ? null : <ErrorNote error={action.error} />}
      {error === null ? null : <ErrorNote error={error} retry={reload} />}
      {value === null && error === null ? <Loading /> : null}
      {value === null ? null : (
        <>
          <Categories items={value.items} columns={mayChange ? [...COLUMNS, buttons] : COLUMNS} />
          <OrganizationPreferences categories={value.items} />
        </>
      )}
      {editing.value === null ? null : (
        <CategoryForm
          category={editing.value === 'new' ? null : editing.value}
          onSaved={reload}
          onClose={() => {
            editing.value = null
          }}
        />
      )}
    </Page>
  )
}

function Categories({
  items,
  columns,
}: {
  readonly items: readonly Category[]
  readonly columns: readonly Column<Category>[]
}) {
  if (items.length > 0)
    return <Table label={said.title} items={items} columns={columns} keyOf={({ id }) => id} />
  return (
    <Empty icon="categories" title={said.empty}>
      <p>{may('Full Access') ? said.emptyHint : texts.permission.needs('Full Access')}</p>
    </Empty>
  )
}
