import type { ComponentChildren } from 'preact'
import { hrefOf } from '../../app/router.ts'
import { inOrganization } from '../../app/session.ts'
import { texts } from '../../texts/index.ts'
import { Badge } from '../../ui/badge.tsx'
import { NotificationStatus } from '../../ui/notification-status.tsx'
import { Time } from '../../ui/time.tsx'
import type { Notification } from './notification.ts'

const said = texts.notifications

/** The fields of a notification that have a value. */
export function Facts({ of: notification }: { readonly of: Notification }) {
  const { status, channel, to, subject, template, provider, priority, error, timeline } = notification
  const { sendAt, expiresAt, createdAt, resendOf, sensitive } = notification
  const { metadata, recipient, category, groupId } = notification
  const attempts = Math.max(0, ...timeline.map(({ attempt }) => attempt ?? 0))
  const here = inOrganization('/notifications')
  return (
    <section aria-label={said.facts}>
      <dl class="facts two card">
        <Fact name={said.status}>
          <NotificationStatus status={status} failing={error !== null} />
        </Fact>
        <Fact name={said.to}>
          <a href={hrefOf(here, { to })}>{to}</a>
        </Fact>
        <Fact name={said.channel}>{channel}</Fact>
        <Fact name={said.subject}>
          {subject}
          {sensitive ? <Badge tone="warn">{said.hidden}</Badge> : null}
        </Fact>
        <Fact name={said.template}>
          {template === null ? null : <a href={hrefOf(here, { template })}>{template}</a>}
        </Fact>
        <Fact name={said.provider}>{provider}</Fact>
        <Fact name={said.attempts}>{attempts}</Fact>
        <Fact name={said.created}>
          <Time at={createdAt} style="full" />
        </Fact>
        <Fact name={said.sendAt}>{sendAt === null ? null : <Time at={sendAt} style="full" />}</Fact>
        <Fact name={said.expires}>{expiresAt === null ? null : <Time at={expiresAt} style="full" />}</Fact>
        <Fact name={said.priority}>{priority === 'normal' ? null : said.priorities[priority]}</Fact>
        <Fact name={said.resendOf}>
          {resendOf === null ? null : <a href={hrefOf(`${here}/${resendOf}`)}>{resendOf}</a>}
        </Fact>
        <Fact name={said.person}>
          {recipient === null ? null : (
            <a href={hrefOf(inOrganization('/recipients'), { recipient })}>{recipient}</a>
          )}
        </Fact>
        <Fact name={said.category}>
          {category === null ? null : <a href={hrefOf(here, { category })}>{category}</a>}
        </Fact>
        <Fact name={said.group}>
          {groupId === null ? null : <a href={hrefOf(here, { groupId })}>{groupId}</a>}
        </Fact>
        <Fact name={said.metadata}>
          {metadata === null
            ? null
            : Object.entries(metadata).map(([name, value]) => (
                <div key={name}>
                  <a href={hrefOf(here, { metadata: `${name}:${value}` })}>
                    <code>{name}</code>: {value}
                  </a>
                </div>
              ))}
        </Fact>
      </dl>
    </section>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  const empty = Array.isArray(children) ? children.every((child) => child === null) : children === null
  if (empty) return null
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
