import { mayReadContent } from '../../app/session.ts'
import { useData } from '../../app/use-data.ts'
import { texts } from '../../texts/index.ts'
import { MessageView } from '../../ui/message-view.tsx'
import { Empty, ErrorNote, Loading } from '../../ui/states.tsx'
import type { Notification } from './notification.ts'

const said = texts.notifications

/** The message as its recipient gets it. Only those who may read content see it. */
export function Content({ of: { id, sensitive } }: { readonly of: Notification }) {
  if (sensitive) return <Empty icon="keys" title={said.contentSensitive} />
  if (!mayReadContent()) return <Empty icon="keys" title={said.contentNeeds} />
  return <Readable id={id} />
}

function Readable({ id }: { readonly id: string }) {
  // The text is pinned at accept: it never changes.
  const { value, error, reload } = useData<Notification>(`/v1/notifications/${id}`, {
    query: { rendered: 'true' },
    everyMs: 0,
  })
  if (value?.rendered === undefined) {
    return error === null ? <Loading /> : <ErrorNote error={error} retry={reload} />
  }
  const { subject, body, format, text, ...parts } = value.rendered
  return <MessageView message={{ subject, body, format, text, parts }} name={id} />
}
