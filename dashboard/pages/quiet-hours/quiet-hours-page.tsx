import { useSignal } from '@preact/signals'
import { hrefOf } from '../../app/router.ts'
import { inOrganization, may } from '../../app/session.ts'
import { useData } from '../../app/use-data.ts'
import { texts } from '../../texts/index.ts'
import { Badge } from '../../ui/badge.tsx'
import { type Column, Table } from '../../ui/list.tsx'
import { Page } from '../../ui/page.tsx'
import { ErrorNote, Loading } from '../../ui/states.tsx'
import type { QuietChoice, QuietOwner } from './quiet.ts'
import { QuietActions } from './quiet-actions.tsx'
import { QuietForm } from './quiet-form.tsx'
import { QuietSection } from './quiet-section.tsx'
import { QuietWords } from './quiet-words.tsx'

const said = texts.quietHours
const ORGANIZATION = '/v1/preferences/organization'

interface Category {
  readonly id: string
  readonly name: string
  readonly required: boolean
  readonly quietHours: QuietChoice
  readonly source: 'code' | 'stored'
}

/** When messages wait: for all people of an organization, and by category. */
export function QuietHoursPage() {
  const { value, error, reload } = useData<{ readonly quietHours: QuietChoice }>(ORGANIZATION)
  return (
    <Page title={said.title} intro={said.intro}>
      <p>
        {said.personHint} <a href={hrefOf(inOrganization('/recipients'))}>{said.findPerson}</a>
      </p>
      {error === null ? null : <ErrorNote error={error} retry={reload} />}
      {value === null ? (
        error === null ? (
          <Loading />
        ) : null
      ) : (
        <QuietSection
          title={said.organization}
          hint={said.organizationHint}
          owner={{ level: 'organization', path: ORGANIZATION, name: said.organization }}
          choice={value.quietHours}
          needs="Full Access"
          reload={reload}
        />
      )}
      <Categories />
    </Page>
  )
}

function Categories() {
  const { value, error, reload } = useData<{ readonly items: readonly Category[] }>('/v1/categories')
  // Not in the row, which may go while the form is open.
  const editing = useSignal<Category | null>(null)
  const columns: Column<Category>[] = [
    {
      title: said.category,
      main: true,
      cell: ({ id, name, required }) => (
        <>
          {name} <code class="muted">{id}</code> {required ? <Badge>{said.required}</Badge> : null}
        </>
      ),
    },
    {
      title: said.title,
      cell: ({ quietHours, required }) => (
        <QuietWords of={quietHours} none={required ? said.requiredHint : said.unset.category} />
      ),
    },
  ]
  const buttons: Column<Category> = {
    title: texts.actions.edit,
    quiet: true,
    end: true,
    cell: (category) => {
      if (category.source === 'code') return <span class="muted">{said.inCode}</span>
      if (category.required) return null
      return (
        <QuietActions
          owner={ownerOf(category)}
          choice={category.quietHours}
          onEdit={() => {
            editing.value = category
          }}
          reload={reload}
        />
      )
    },
  }
  return (
    <section class="part" aria-labelledby="categories">
      <h2 id="categories">{said.categories}</h2>
      {error === null ? null : <ErrorNote error={error} retry={reload} />}
      {value === null ? null : value.items.length === 0 ? (
        <p class="muted">{said.noCategories}</p>
      ) : (
        <Table
          label={said.categories}
          items={value.items}
          columns={may('Full Access') ? [...columns, buttons] : columns}
          keyOf={({ id }) => id}
        />
      )}
      <p class="hint">{said.categoriesHint}</p>
      {editing.value === null ? null : (
        <QuietForm
          owner={ownerOf(editing.value)}
          choice={editing.value.quietHours}
          onClose={() => {
            editing.value = null
          }}
          reload={reload}
        />
      )}
    </section>
  )
}

function ownerOf({ id, name }: Category): QuietOwner {
  return { level: 'category', path: `/v1/categories/${encodeURIComponent(id)}`, name }
}
