import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ask } from '../../app/api.ts'
import { lazy } from '../../app/lazy.tsx'
import { randomKey } from '../../app/random-key.ts'
import { navigate, place, setQuery } from '../../app/router.ts'
import { inOrganization, may } from '../../app/session.ts'
import { type ActionState, useAction } from '../../app/use-action.ts'
import { useData } from '../../app/use-data.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { Page } from '../../ui/page.tsx'
import { ErrorNote, Loading } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { tell } from '../../ui/toast.tsx'
import { Content } from './content.tsx'
import { Facts } from './facts.tsx'
import { cut, type Notification } from './notification.ts'
import { Timeline } from './timeline.tsx'
import { Why } from './why.tsx'

const onDemand = () => import('../on-demand.ts')
const Events = lazy(async () => (await onDemand()).Events)
const Gates = lazy(async () => (await onDemand()).Gates)
const RescheduleForm = lazy(async () => (await onDemand()).RescheduleForm)

const said = texts.notifications
const TABS = ['timeline', 'gates', 'content', 'events'] as const
type TabName = (typeof TABS)[number]

/** Everything about one notification; above all why it was not sent. */
export function NotificationPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const everyMs = useSignal(10_000)
  const { value, error, reload } = useData<Notification>(`/v1/notifications/${params.id ?? ''}`, {
    everyMs: everyMs.value,
  })
  useEffect(() => {
    everyMs.value = value === null || value.waiting !== null ? 5_000 : 10_000
  }, [value])
  const actions = useAction()
  if (value === null) {
    return (
      <Page title={said.title}>
        {error === null ? <Loading /> : <ErrorNote error={error} retry={reload} />}
      </Page>
    )
  }
  const asked = place.value.query.tab
  return (
    <Page
      title={cut(value.to)}
      intro={<code>{value.id}</code>}
      actions={may('Write') ? <Actions of={value} actions={actions} reload={reload} /> : undefined}
    >
      {actions.error === null ? null : <ErrorNote error={actions.error} />}
      {error === null ? null : <ErrorNote error={error} retry={reload} />}
      <Why of={value} />
      <Facts of={value} />
      <Tabs<TabName>
        label={said.tabs.label}
        value={TABS.find((name) => name === asked) ?? 'timeline'}
        onValue={(tab) => setQuery({ tab: tab === 'timeline' ? '' : tab })}
        tabs={[
          { name: 'timeline', label: said.tabs.timeline, content: () => <Timeline of={value.timeline} /> },
          { name: 'gates', label: said.tabs.gates, content: () => <Gates of={value.id} /> },
          { name: 'content', label: said.tabs.content, content: () => <Content of={value} /> },
          { name: 'events', label: said.tabs.events, content: () => <Events of={value.id} /> },
        ]}
      />
    </Page>
  )
}

function Actions({
  of: { id, sendAt, actions: possible },
  actions,
  reload,
}: {
  readonly of: Notification
  readonly actions: ActionState
  readonly reload: () => Promise<void>
}) {
  const key = useSignal(randomKey())
  const rescheduling = useSignal(false)
  const post = <Answer,>(verb: string, headers: Record<string, string> = {}): Promise<Answer> =>
    ask(`/v1/notifications/${id}/${verb}`, {
      method: 'POST',
      headers,
    })

  async function cancel(): Promise<void> {
    const { cancelTitle: title, cancelHint: hint, cancelIt: yes, keep } = said
    if (!(await confirm({ title, hint, confirm: yes, cancel: keep, danger: true }))) return
    await actions.run(async () => {
      await post('cancel')
      tell(said.cancelled)
    })
    await reload()
  }

  async function resend(): Promise<void> {
    const { resendTitle: title, resendHint: hint } = said
    if (!(await confirm({ title, hint, confirm: said.resend }))) return
    await actions.run(async () => {
      const made = await post<{ id: string }>('resend', { 'Idempotency-Key': key.value })
      tell(said.resent)
      await navigate(inOrganization(`/notifications/${made.id}`))
    })
  }

  async function retry(): Promise<void> {
    const { retryTitle: title, retryHint: hint } = said
    if (!(await confirm({ title, hint, confirm: said.retry }))) return
    await actions.run(async () => {
      await post('retry')
      tell(said.retried)
    })
    await reload()
  }

  return (
    <>
      {possible.reschedule && sendAt !== null ? (
        <Button
          icon="clock"
          onClick={() => {
            rescheduling.value = true
          }}
        >
          {said.reschedule}
        </Button>
      ) : null}
      {rescheduling.value && sendAt !== null ? (
        <RescheduleForm
          id={id}
          sendAt={sendAt}
          onClose={() => {
            rescheduling.value = false
            void reload()
          }}
        />
      ) : null}
      {possible.cancel ? (
        <Button icon="close" onClick={cancel}>
          {said.cancel}
        </Button>
      ) : null}
      {possible.resend ? (
        <Button icon="send" onClick={resend}>
          {said.resend}
        </Button>
      ) : null}
      {possible.retry && may('Full Access') ? (
        <Button kind="primary" icon="refresh" onClick={retry}>
          {said.retry}
        </Button>
      ) : null}
    </>
  )
}
