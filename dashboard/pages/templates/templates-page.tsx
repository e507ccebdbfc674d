import { hrefOf, place } from '../../app/router.ts'
import { inOrganization, may } from '../../app/session.ts'
import { useList } from '../../app/use-list.ts'
import { texts } from '../../texts/index.ts'
import { Badge } from '../../ui/badge.tsx'
import { deleteConfirmed, deletionColumn } from '../../ui/deletion.tsx'
import { Filters, TextFilter } from '../../ui/filters.tsx'
import { Icon } from '../../ui/icon.tsx'
import { type Column, List } from '../../ui/list.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import type { Template } from './template.ts'
import { TextNav } from './text-nav.tsx'

const said = texts.templates

interface Listed extends Template {
  readonly hasDraft: boolean
}

export function TemplatesPage() {
  const templates = useList<Listed>('/v1/templates')
  const { search = '' } = place.value.query
  const mayWrite = may('Write')
  const wanted = search.trim().toLowerCase()
  const found = templates.items?.filter(({ name }) => name.includes(wanted)) ?? null
  const create = (
    <a class="button primary" href={hrefOf(inOrganization('/templates/new'))}>
      <Icon name="plus" />
      {said.create}
    </a>
  )

  async function remove({ id, name }: Template): Promise<void> {
    const confirmation = { title: said.deleteTitle(name), hint: said.deleteHint, done: said.deleted }
    if (await deleteConfirmed(`/v1/templates/${id}`, confirmation)) await templates.reload()
  }

  const columns: Column<Listed>[] = [
    {
      title: said.name,
      main: true,
      cell: ({ id, name, description, hasDraft }) => (
        <>
          <a href={hrefOf(inOrganization(`/templates/${id}`))}>{name}</a>{' '}
          {hasDraft ? (
            <a href={hrefOf(inOrganization(`/templates/${id}`), { draft: 'true' })}>
              <Badge tone="warn">{said.draft.label}</Badge>
            </a>
          ) : null}
          {description === null ? null : <p class="muted clip">{description}</p>}
        </>
      ),
    },
    { title: said.channel, cell: ({ channel }) => channel },
    { title: said.version, end: true, cell: ({ version }) => version },
    { title: said.changed, end: true, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
    ...deletionColumn<Listed>(({ name }) => name, remove),
  ]
  return (
    <Page title={said.title} intro={said.intro} actions={mayWrite ? create : undefined}>
      <TextNav />
      {templates.items === null || templates.items.length === 0 ? null : (
        <Filters names={['search']}>
          <TextFilter name="search" label={said.search} />
        </Filters>
      )}
      <List
        label={said.title}
        state={{ ...templates, items: found }}
        columns={columns}
        filtered={wanted !== ''}
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
