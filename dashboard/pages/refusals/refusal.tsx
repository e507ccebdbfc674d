import { hrefOf } from '../../app/router.ts'
import { inOrganization } from '../../app/session.ts'
import { texts } from '../../texts/index.ts'
import type { Column } from '../../ui/list.tsx'
import { Time } from '../../ui/time.tsx'

const said = texts.refusals

/** A refused message, as the REST API shows it. */
export interface Refusal {
  readonly at: string
  readonly count: number
  readonly code: string
  readonly message: string
  readonly channel: string | null
  readonly to: string | null
  readonly recipient: string | null
  readonly template: string | null
  readonly sentBy: { readonly id: string; readonly name: string | null } | null
}

export function keyOfRefusal({ code, message, channel, to, recipient, template, sentBy }: Refusal): string {
  return JSON.stringify([code, message, channel, to, recipient, template, sentBy?.id])
}

export const WHOM: Column<Refusal> = {
  title: said.to,
  main: true,
  cell: ({ channel, to, recipient }) => {
    const named =
      recipient !== null ? { recipient } : channel !== null && to !== null ? { channel, to } : null
    const name = to ?? recipient ?? said.unknown
    if (named === null) return <span class="muted">{name}</span>
    return (
      <a class="cut short" title={name} href={hrefOf(inOrganization('/recipients'), named)}>
        {name}
      </a>
    )
  },
}

export const CAUSE: Column<Refusal> = {
  title: said.cause,
  main: true,
  cell: ({ code, message, count }) => (
    <div class="cause">
      <code>{code}</code>
      {count === 1 ? null : <span class="muted"> · {said.times(count)}</span>}
      <p class="hint">{message}</p>
    </div>
  ),
}

export const REST: readonly Column<Refusal>[] = [
  { title: said.channel, cell: ({ channel }) => channel },
  { title: said.template, cell: ({ template }) => template },
  {
    title: said.sentBy,
    cell: ({ sentBy }) =>
      sentBy === null ? <span class="muted">{said.application}</span> : (sentBy.name ?? sentBy.id),
  },
  { title: said.when, end: true, cell: ({ at }) => <Time at={at} /> },
]
