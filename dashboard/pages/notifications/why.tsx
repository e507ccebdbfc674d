import type { ComponentChildren } from 'preact'
import { durabilityOf } from '../../../src/core/errors/durability.ts'
import { hrefOf } from '../../app/router.ts'
import { inOrganization } from '../../app/session.ts'
import { texts } from '../../texts/index.ts'
import { Icon, type IconName } from '../../ui/icon.tsx'
import { Time } from '../../ui/time.tsx'
import { adviceFor, type Failure, type Notification, recipientQuery } from './notification.ts'

const said = texts.notifications.why
/** Reasons to wait that nothing is wrong with. */
const CALM: readonly string[] = ['scheduled', 'delayed', 'in_queue', 'attempt_running']
/** Failures that a list of suppressed recipients explains. */
const SUPPRESSED: readonly string[] = ['blocked_recipient', 'unsubscribed']

/** Says in words where a notification stands, why, and what to do. */
export function Why({ of: notification }: { readonly of: Notification }) {
  const { status, error } = notification
  switch (status) {
    case 'failed':
      return <Failed of={notification} />
    case 'scheduled':
    case 'queued':
      return notification.waiting === null ? null : (
        <StillWaiting of={notification} waiting={notification.waiting} />
      )
    case 'sent':
      return (
        <Note icon="check" title={said.sent}>
          <p>{said.sentHint}</p>
        </Note>
      )
    case 'skipped':
      return (
        <Note icon="close" title={said.skipped}>
          {error === null ? null : <Reason of={error} about={notification} />}
        </Note>
      )
    case 'cancelled':
      return error === null ? (
        <Note icon="close" title={said.cancelled} />
      ) : (
        <Note tone="warn" icon="close" title={said.cancelledLate}>
          <Reason of={error} about={notification} />
        </Note>
      )
    default:
      return <Note tone="good" icon="check" title={said[status]} />
  }
}

/** A cause that may pass is told from one that stays. */
function Failed({ of: notification }: { readonly of: Notification }) {
  const { error, channel, provider, actions } = notification
  const unknown = error?.code === 'invalid_recipient' && provider !== null
  const passing = actions.retry && error !== null && durabilityOf(error.code) === 'passing'
  return (
    <Note
      tone={passing ? 'warn' : 'bad'}
      icon={passing ? 'clock' : 'failures'}
      title={unknown ? said.noRecipient(channel) : passing ? said.failedNow : said.failed}
    >
      {error === null ? null : <Reason of={error} about={notification} />}
    </Note>
  )
}

function StillWaiting({
  of: notification,
  waiting: { reason, until, code, message },
}: {
  readonly of: Notification
  readonly waiting: NonNullable<Notification['waiting']>
}) {
  const { error, expiresAt } = notification
  return (
    <Note {...(CALM.includes(reason) ? {} : { tone: 'warn' })} icon="clock" title={said.waiting[reason]}>
      {message === null ? null : <p>{message}</p>}
      <p>{said.hints[reason]}</p>
      {until === null ? null : (
        <p>
          {said.until} <Time at={until} style="full" /> (<Time at={until} />)
        </p>
      )}
      {expiresAt !== null && until !== null && Date.parse(expiresAt) <= Date.parse(until) ? (
        <p>
          {said.expiresFirst} <Time at={expiresAt} style="full" />
        </p>
      ) : null}
      {reason === 'delayed' ? (
        <p class="links">
          <a href={hrefOf(inOrganization('/recipients'), recipientQuery(notification))}>{said.recipient}</a>
          <a href={hrefOf(inOrganization('/quiet-hours'))}>{texts.quietHours.title}</a>
        </p>
      ) : null}
      {error === null && code !== null ? (
        <>
          <p>
            {said.because} <code>{code}</code>
          </p>
          <Advice code={code} provider={notification.provider} />
        </>
      ) : null}
      {error === null ? null : <Reason of={error} about={notification} />}
    </Note>
  )
}

function Note({
  tone,
  icon,
  title,
  children,
}: {
  readonly tone?: 'good' | 'warn' | 'bad'
  readonly icon: IconName
  readonly title: string
  readonly children?: ComponentChildren
}) {
  return (
    <section class={`note${tone === undefined ? '' : ` ${tone}`}`}>
      <Icon name={icon} />
      <div class="why">
        <h2>{title}</h2>
        {children}
      </div>
    </section>
  )
}

function Reason({
  of: { code, message, providerCode, decidedBy },
  about,
}: {
  readonly of: Failure
  readonly about: Notification
}) {
  const suppressed = about.timeline.some((entry) => entry.suppressed !== null)
  const alike = hrefOf(inOrganization('/notifications'), { status: about.status, code })
  return (
    <>
      <p class="long">
        {message} <code>{code}</code>
      </p>
      {providerCode === undefined ? null : (
        <p class="long">
          {texts.notifications.providerCode}: <code>{providerCode}</code>
        </p>
      )}
      {decidedBy === undefined ? null : (
        <p>
          {said.decidedBy}: <code>{decidedBy}</code>
        </p>
      )}
      {suppressed ? <p>{said.suppressedNow}</p> : null}
      {about.waiting !== null && durabilityOf(code) === 'passing' ? null : (
        <Advice code={code} provider={about.provider} />
      )}
      <p class="links">
        <a href={alike}>{about.status === 'failed' ? said.alike : said.alikeOthers}</a>
        {suppressed || SUPPRESSED.includes(code) ? (
          <a href={hrefOf(inOrganization('/suppressions'), { channel: about.channel })}>
            {said.suppressions}
          </a>
        ) : null}
        {code === 'opted_out' ? (
          <a href={hrefOf(inOrganization('/recipients'), recipientQuery(about))}>{said.recipient}</a>
        ) : null}
      </p>
    </>
  )
}

function Advice({ code, provider }: { readonly code: string; readonly provider: string | null }) {
  const advice = adviceFor(code, provider)
  if (advice === null) return null
  return (
    <p>
      <strong>{said.todo}:</strong> {advice}
    </p>
  )
}
