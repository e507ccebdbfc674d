import { hrefOf } from '../../app/router.ts'
import { inOrganization, may } from '../../app/session.ts'
import { useAction } from '../../app/use-action.ts'
import { useList } from '../../app/use-list.ts'
import { texts } from '../../texts/index.ts'
import { deleteConfirmed, deletionColumn } from '../../ui/deletion.tsx'
import { Icon } from '../../ui/icon.tsx'
import { type Column, List } from '../../ui/list.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty, ErrorNote } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import type { SharedText, SharedTexts } from './shared-text.ts'
import { TextNav } from './text-nav.tsx'

const words = texts.templates

export function LayoutsPage() {
  return <SharedTextsPage many="layouts" />
}

export function PartialsPage() {
  return <SharedTextsPage many="partials" />
}

function SharedTextsPage({ many }: { readonly many: SharedTexts }) {
  const said = words[many]
  const state = useList<SharedText>(`/v1/${many}`)
  const action = useAction()
  const mayWrite = may('Write')
  const pathOf = (name: string): string => inOrganization(`/templates/${many}/${name}`)
  const create = (
    <a class="button primary" href={hrefOf(pathOf('new'))}>
      <Icon name="plus" />
      {said.create}
    </a>
  )

  const remove = ({ id, name }: SharedText): Promise<void> =>
    action.run(async () => {
      const confirmation = { title: words.deleteTitle(name), hint: said.deleteHint, done: said.deleted }
      if (await deleteConfirmed(`/v1/${many}/${id}`, confirmation)) await state.reload()
    })

  const columns: Column<SharedText>[] = [
    {
      title: words.name,
      main: true,
      cell: ({ id, name, description }) => (
        <>
          <a href={hrefOf(pathOf(id))}>{name}</a>
          {description === null ? null : <p class="muted clip">{description}</p>}
        </>
      ),
    },
    {
      title: said.has,
      cell: ({ html, text }) =>
        [...(html === null ? [] : [words.html]), ...(text === null ? [] : [words.text])].join(', '),
    },
    { title: words.version, end: true, cell: ({ version }) => version },
    { title: words.changed, end: true, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
    ...deletionColumn<SharedText>(({ name }) => name, remove),
  ]
  return (
    <Page title={said.title} intro={said.intro} actions={mayWrite ? create : undefined}>
      <TextNav />
      {action.error === null ? null : <ErrorNote error={action.error} />}
      <List
        label={said.title}
        state={state}
        columns={columns}
        empty={
          <Empty icon="templates" title={said.empty}>
            <p>{mayWrite ? said.emptyHint : texts.permission.needs('Write')}</p>
            {mayWrite ? create : null}
          </Empty>
        }
      />
    </Page>
  )
}
