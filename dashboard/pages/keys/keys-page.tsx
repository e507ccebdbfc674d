import { useSignal } from '@preact/signals'
import { ask } from '../../app/api.ts'
import { may, session, signOut } from '../../app/session.ts'
import { useList } from '../../app/use-list.ts'
import { texts } from '../../texts/index.ts'
import { settings } from '../../texts/settings.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { type Column, List } from '../../ui/list.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { tell } from '../../ui/toast.tsx'
import { CreateKey } from './create-key.tsx'
import type { Key } from './key.ts'
import { RotateKey } from './rotate-key.tsx'
import { Rotations } from './rotations.tsx'

const DAY_MS = 86_400_000
const said = settings.keys

export function KeysPage() {
  const keys = useList<Key>('/v1/api-keys')
  const creating = useSignal(false)
  const rotating = useSignal<Key | null>(null)
  const mayChange = may('Full Access')
  const create = (
    <Button
      kind="primary"
      icon="plus"
      onClick={() => {
        creating.value = true
      }}
    >
      {said.create}
    </Button>
  )

  async function remove(key: Key): Promise<void> {
    const own = isOwn(key)
    const sure = await confirm({
      title: said.deleteTitle(key.name),
      hint: own ? said.deleteOwn : said.deleteHint,
      confirm: own ? said.deleteOwnConfirm : texts.actions.delete,
      danger: true,
    })
    if (!sure) return
    await ask(`/v1/api-keys/${key.id}`, { method: 'DELETE' })
    if (own) return signOut()
    tell(said.deleted)
    await keys.reload()
  }

  const columns: Column<Key>[] = [
    { title: said.name, main: true, cell: (key) => <Name of={key} /> },
    { title: said.permission, cell: (key) => key.permission },
    { title: said.lastUsed, cell: (key) => <Time at={key.lastUsedAt} /> },
    { title: said.expires, cell: (key) => <Time at={key.expiresAt} /> },
    { title: said.created, cell: (key) => <Time at={key.createdAt} style="short" /> },
    ...(mayChange
      ? [
          {
            title: texts.actions.delete,
            quiet: true,
            end: true,
            cell: (key: Key) => (
              <span class="actions">
                <Button
                  kind="quiet"
                  icon="refresh"
                  label={`${said.rotate}: ${key.name}`}
                  onClick={() => {
                    rotating.value = key
                  }}
                />
                <Button
                  kind="quiet"
                  icon="trash"
                  label={`${texts.actions.delete}: ${key.name}`}
                  onClick={() => remove(key)}
                />
              </span>
            ),
          },
        ]
      : []),
  ]
  return (
    <Page title={said.title} intro={said.intro} actions={mayChange ? create : undefined}>
      <Rotations keys={keys.items ?? []} {...(mayChange ? { onDelete: remove } : {})} />
      <List
        label={said.title}
        state={keys}
        columns={columns}
        empty={
          <Empty icon="keys" title={said.empty}>
            <p>{mayChange ? said.emptyHint : texts.permission.needs('Full Access')}</p>
            {mayChange ? create : null}
          </Empty>
        }
      />
      {rotating.value === null ? null : (
        <RotateKey
          of={rotating.value}
          onDone={() => {
            rotating.value = null
            void keys.reload()
          }}
        />
      )}
      {creating.value ? (
        <CreateKey
          onDone={() => {
            creating.value = false
            void keys.reload()
          }}
        />
      ) : null}
    </Page>
  )
}

/** The one that began the session: it ends with the key. */
function isOwn({ id }: Key): boolean {
  return id === session.value.actor
}

function Name({ of: key }: { readonly of: Key }) {
  const days = Math.floor((Date.now() - Date.parse(key.createdAt)) / DAY_MS)
  const expired = key.expiresAt !== null && Date.parse(key.expiresAt) <= Date.now()
  return (
    <>
      {key.name} {isOwn(key) ? <Badge tone="info">{said.own}</Badge> : null}{' '}
      {expired ? <Badge tone="bad">{said.expired}</Badge> : null}
      {!expired && days >= 90 ? <Badge tone="bad">{said.age90(days)}</Badge> : null}
      {!expired && days >= 75 && days < 90 ? <Badge tone="warn">{said.age75(days)}</Badge> : null}
      <p>
        <code class="muted">{key.hint}</code>
      </p>
    </>
  )
}
