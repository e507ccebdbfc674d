import { useSignal } from '@preact/signals'
import { hrefOf } from '../../app/router.ts'
import { inOrganization, may } from '../../app/session.ts'
import { useList } from '../../app/use-list.ts'
import { texts } from '../../texts/index.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, List } from '../../ui/list.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { tell } from '../../ui/toast.tsx'
import { DeleteOrganization } from './delete-organization.tsx'
import type { Organization } from './organization.ts'
import { OrganizationForm } from './organization-form.tsx'

const said = texts.organizations

type Opened =
  | { readonly kind: 'create' }
  | { readonly kind: 'edit' | 'delete'; readonly organization: Organization }

export function OrganizationsPage() {
  const organizations = useList<Organization>('/v1/organizations')
  const opened = useSignal<Opened | null>(null)
  const close = (): void => {
    opened.value = null
  }
  const open = (what: Opened) => (): void => {
    opened.value = what
  }
  const columns: Column<Organization>[] = [
    {
      title: said.name,
      main: true,
      cell: ({ id, name, deleting }) => (
        <>
          <a href={hrefOf(inOrganization('/', id))}>{name}</a>{' '}
          {deleting ? <Badge tone="warn">{said.deleting}</Badge> : null}
        </>
      ),
    },
    { title: said.id, cell: ({ id }) => <code>{id}</code> },
    { title: said.plan, cell: ({ plan }) => plan ?? <span class="muted">{said.defaultPlan}</span> },
    { title: said.created, cell: ({ createdAt }) => <Time at={createdAt} style="short" /> },
    {
      title: texts.actions.edit,
      quiet: true,
      end: true,
      cell: (organization) => (
        <div class="actions">
          {may('Full Access') ? (
            <Button
              kind="quiet"
              icon="edit"
              label={`${texts.actions.edit}: ${organization.name}`}
              onClick={open({ kind: 'edit', organization })}
            />
          ) : null}
          {may('Full Access') && organization.id !== 'org_default' ? (
            <Button
              kind="quiet"
              icon="trash"
              label={`${texts.actions.delete}: ${organization.name}`}
              onClick={open({ kind: 'delete', organization })}
            />
          ) : null}
        </div>
      ),
    },
  ]
  const create = (
    <Button kind="primary" icon="plus" onClick={open({ kind: 'create' })}>
      {said.create}
    </Button>
  )
  const now = opened.value
  return (
    <Page title={said.title} intro={said.intro} actions={may('Full Access') ? create : undefined}>
      <List
        label={said.title}
        state={organizations}
        columns={columns}
        empty={
          <Empty icon="organizations" title={said.empty}>
            <p>{said.emptyHint}</p>
          </Empty>
        }
      />
      {now === null || now.kind === 'delete' ? null : (
        <OrganizationForm
          {...(now.kind === 'edit' ? { organization: now.organization } : {})}
          onClose={close}
          onSaved={() => {
            close()
            tell(now.kind === 'edit' ? said.saved : said.createdNote)
            void organizations.reload()
          }}
        />
      )}
      {now?.kind === 'delete' ? (
        <DeleteOrganization
          organization={now.organization}
          onClose={close}
          onDone={(count) => {
            close()
            tell(said.deleted(count))
            void organizations.reload()
          }}
        />
      ) : null}
    </Page>
  )
}
