import { AUDIT_ACTIONS } from '../../../src/core/audit/actions.ts'
import type { AuditActor, AuditOrigin } from '../../../src/core/audit/audit.ts'
import type { AuditedField, AuditScalar } from '../../../src/core/audit/changed.ts'
import { may, overAll } from '../../app/session.ts'
import { useList } from '../../app/use-list.ts'
import { texts } from '../../texts/index.ts'
import { settings } from '../../texts/settings.ts'
import { Badge } from '../../ui/badge.tsx'
import { Filters, filtersOf, SelectFilter, TextFilter, TimeFilter } from '../../ui/filters.tsx'
import { type Column, List } from '../../ui/list.tsx'
import { OrganizationLink } from '../../ui/organization-link.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'

const said = settings.auditLog

interface Entry {
  readonly id: string
  readonly organizationId: string | null
  readonly at: string
  readonly actor: AuditActor
  readonly action: string
  readonly target: { readonly kind: string; readonly id: string; readonly name: string | null }
  readonly origin: AuditOrigin | null
  readonly changed: readonly AuditedField[]
}

const ORGANIZATION: Column<Entry> = {
  title: texts.app.organization,
  cell: ({ organizationId }) => <OrganizationLink id={organizationId} />,
}

const COLUMNS: readonly Column<Entry>[] = [
  {
    title: said.action,
    main: true,
    cell: ({ action, target }) => (
      <>
        {action}
        <p class="muted clip" title={target.id}>
          {target.name ?? target.id}
        </p>
      </>
    ),
  },
  { title: said.changed, cell: ({ changed }) => <span class="long">{changed.map(shown).join(', ')}</span> },
  {
    title: said.actor,
    cell: ({ actor: { type, id, name }, origin }) => (
      <div>
        <span class="cut" title={id}>
          <Badge>{said.types[type] ?? type}</Badge> {type === id ? null : (name ?? id)}
        </span>
        {origin === null || origin.ip === null ? null : (
          <p class="hint" title={origin.userAgent ?? ''}>
            {said.origin} {origin.ip}
          </p>
        )}
      </div>
    ),
  },
  { title: said.at, end: true, cell: ({ at }) => <Time at={at} style="short" /> },
]

function shown({ field, before, after }: AuditedField): string {
  if (before === undefined && after === undefined) return field
  const text = (value: AuditScalar | undefined) =>
    value === undefined || value === null ? '–' : String(value)
  return before === undefined ? `${field}: ${text(after)}` : `${field}: ${text(before)} → ${text(after)}`
}

const NAMES = ['actor', 'action', 'target', 'from', 'until'] as const

export function AuditLogPage() {
  if (may('Full Access')) return <AuditLog />
  return (
    <Page title={said.title} intro={said.intro}>
      <Empty icon="auditLog" title={texts.permission.needs('Full Access')} />
    </Page>
  )
}

function AuditLog() {
  const filters = filtersOf(NAMES)
  const list = useList<Entry>('/v1/audit-log', { query: filters })
  return (
    <Page title={said.title} intro={said.intro}>
      <Filters names={NAMES}>
        <TextFilter name="actor" label={said.actorId} />
        <SelectFilter
          name="action"
          label={said.action}
          choices={AUDIT_ACTIONS.map((value) => ({ value, label: value }))}
        />
        <TextFilter name="target" label={said.targetId} />
        <TimeFilter name="from" label={said.from} />
        <TimeFilter name="until" label={said.until} />
      </Filters>
      <List
        label={said.title}
        state={list}
        columns={overAll.value ? [...COLUMNS, ORGANIZATION] : COLUMNS}
        filtered={Object.keys(filters).length > 0}
        empty={
          <Empty icon="auditLog" title={said.empty}>
            <p>{said.emptyHint}</p>
          </Empty>
        }
      />
    </Page>
  )
}
