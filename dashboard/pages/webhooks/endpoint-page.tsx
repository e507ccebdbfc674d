import { useSignal } from '@preact/signals'
import { isListener } from '../../../src/core/delivery/listeners.ts'
import { ApiError, ask } from '../../app/api.ts'
import { navigate } from '../../app/router.ts'
import { inOrganization, may } from '../../app/session.ts'
import { useAction } from '../../app/use-action.ts'
import { useData } from '../../app/use-data.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { deleteConfirmed } from '../../ui/deletion.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { Page } from '../../ui/page.tsx'
import { SecretDialog } from '../../ui/secret.tsx'
import { ErrorNote, Loading } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { tell } from '../../ui/toast.tsx'
import { Deliveries, useDeliveries } from './deliveries.tsx'
import type { CreatedEndpoint, Endpoint, Post } from './endpoint.ts'
import { EndpointForm } from './endpoint-form.tsx'
import { EndpointStatus } from './endpoint-status.tsx'
import { RedeliverForm } from './redeliver-form.tsx'

const said = texts.webhooks

export function EndpointPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const path = `/v1/webhooks/${params.id ?? ''}`
  const { value: endpoint, error, reload } = useData<Endpoint>(path)
  const deliveries = useDeliveries(path)
  if (endpoint === null) {
    return (
      <Page title={said.title}>
        {error === null ? <Loading /> : <ErrorNote error={error} retry={reload} />}
      </Page>
    )
  }
  return (
    <Page
      title={endpoint.url}
      intro={isListener(endpoint.id) ? said.listener : undefined}
      actions={
        may('Full Access') ? (
          <Actions of={endpoint} reload={reload} reloadDeliveries={deliveries.reload} />
        ) : undefined
      }
    >
      {error === null ? null : <ErrorNote error={error} retry={reload} />}
      <Facts of={endpoint} />
      <Deliveries endpoint={endpoint} deliveries={deliveries} />
    </Page>
  )
}

function Facts({ of: endpoint }: { readonly of: Endpoint }) {
  const { events, successStatus, createdAt, disabledReason, failingSince } = endpoint
  return (
    <>
      {disabledReason === null ? null : <p class="note warn">{said.reasons[disabledReason]}</p>}
      {disabledReason !== null || failingSince === null ? null : (
        <p class="note warn">
          <span>
            {said.failingSince} <Time at={failingSince} style="short" />
          </span>
        </p>
      )}
      <dl class="facts card">
        <dt>{said.status}</dt>
        <dd>
          <EndpointStatus of={endpoint} />
        </dd>
        <dt>{said.events}</dt>
        <dd>{events.join(', ')}</dd>
        <dt>{said.success}</dt>
        <dd>{said.successes[successStatus]}</dd>
        <dt>{said.created}</dt>
        <dd>
          <Time at={createdAt} style="full" />
        </dd>
      </dl>
    </>
  )
}

function Actions({
  of: endpoint,
  reload,
  reloadDeliveries,
}: {
  readonly of: Endpoint
  readonly reload: () => Promise<void>
  readonly reloadDeliveries: () => Promise<void>
}) {
  const open = useSignal<'edit' | 'redeliver' | null>(null)
  const secret = useSignal<string | null>(null)
  const actions = useAction()
  const path = `/v1/webhooks/${endpoint.id}`

  /** Runs one action, and reads the endpoint anew. */
  const run = (action: () => Promise<void>) => () =>
    actions.run(async () => {
      await action()
      await reload()
    })
  const set = (status: Endpoint['status'], done: string) =>
    run(async () => {
      const sure =
        status === 'active' ||
        (await confirm({ title: said.disableTitle, hint: said.disableHint, confirm: said.disable }))
      if (!sure) return
      await ask(path, { method: 'PATCH', body: { status } })
      tell(done)
    })
  const rotate = run(async () => {
    if (!(await confirm({ title: said.rotateTitle, hint: said.rotateHint, confirm: said.rotate }))) return
    const rotated = await ask<CreatedEndpoint>(`${path}/rotate-secret`, {
      method: 'POST',
      body: {},
    })
    secret.value = rotated.secret
  })
  const test = run(async () => {
    const post = await ask<Post>(`${path}/test`, { method: 'POST' })
    await reloadDeliveries()
    if (post.succeeded && post.status !== null) tell(said.testWorked(post.status))
    else
      throw new ApiError(422, { error: { message: `${said.testFailed}: ${post.response || said.noAnswer}` } })
  })
  const remove = run(async () => {
    const confirmation = { title: said.deleteTitle, hint: said.deleteHint, done: said.deleted }
    if (await deleteConfirmed(path, confirmation)) await navigate(inOrganization('/webhooks'))
  })
  const active = endpoint.status === 'active'
  const close = (): void => {
    open.value = null
  }
  const hasAddress = !isListener(endpoint.id)
  return (
    <>
      {hasAddress ? (
        <>
          <Button icon="send" onClick={test}>
            {said.test}
          </Button>
          <Button
            icon="edit"
            onClick={() => {
              open.value = 'edit'
            }}
          >
            {texts.actions.edit}
          </Button>
        </>
      ) : null}
      <Button
        icon="refresh"
        disabled={!active}
        onClick={() => {
          open.value = 'redeliver'
        }}
      >
        {said.redeliverSince}
      </Button>
      {hasAddress ? (
        <Button icon="keys" onClick={rotate}>
          {said.rotate}
        </Button>
      ) : null}
      {active ? (
        <Button icon="pause" onClick={set('disabled', said.disabled)}>
          {said.disable}
        </Button>
      ) : (
        <Button icon="play" kind="primary" onClick={set('active', said.enabled)}>
          {said.enable}
        </Button>
      )}
      <Button icon="trash" onClick={remove}>
        {texts.actions.delete}
      </Button>
      {actions.error === null ? null : <ErrorNote error={actions.error} />}
      {open.value === 'edit' ? (
        <EndpointForm
          endpoint={endpoint}
          onClose={close}
          onSaved={() => {
            close()
            tell(said.saved)
            void reload()
          }}
        />
      ) : null}
      {open.value === 'redeliver' ? <RedeliverForm path={path} onClose={close} /> : null}
      {secret.value === null ? null : (
        <SecretDialog
          title={said.secretTitle}
          hint={said.secretHint}
          label={said.secret}
          secret={secret.value}
          onDone={() => {
            secret.value = null
          }}
        />
      )}
    </>
  )
}
