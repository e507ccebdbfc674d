import { useSignal } from '@preact/signals'
import { mayReadContent } from '../../app/session.ts'
import { useData } from '../../app/use-data.ts'
import { texts } from '../../texts/index.ts'
import { HtmlPreview } from '../../ui/html-preview.tsx'
import { JsonView, LongText } from '../../ui/long-text.tsx'
import { Empty, ErrorNote, Loading } from '../../ui/states.tsx'
import { type Tab, Tabs } from '../../ui/tabs.tsx'
import type { Notification } from './notification.ts'

const said = texts.notifications
type View = 'html' | 'text' | 'source' | 'parts'

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
  const view = useSignal<View | null>(null)
  if (value?.rendered === undefined) {
    return error === null ? <Loading /> : <ErrorNote error={error} retry={reload} />
  }
  const { subject, body, format, text, ...parts } = value.rendered
  const tabs: Tab<View>[] = [
    ...(format === 'html'
      ? ([
          {
            name: 'html',
            label: said.views.html,
            content: () => <HtmlPreview html={body} title={said.views.html} />,
          },
          {
            name: 'text',
            label: said.views.text,
            content: () =>
              text === undefined ? <p>{said.madeOfHtml}</p> : <LongText text={text} name={id} />,
          },
          {
            name: 'source',
            label: said.views.source,
            content: () => <LongText text={body} name={id} type="html" />,
          },
        ] as const)
      : ([
          { name: 'text', label: said.views.text, content: () => <LongText text={body} name={id} /> },
        ] as const)),
    ...(Object.keys(parts).length === 0
      ? []
      : [
          {
            name: 'parts',
            label: said.views.parts,
            content: () => <JsonView value={parts} name={id} />,
          } as const,
        ]),
  ]
  return (
    <div class="part">
      {subject === null ? null : <h3 class="long">{subject}</h3>}
      <Tabs
        label={said.views.label}
        tabs={tabs}
        value={view.value ?? tabs[0]?.name ?? 'text'}
        onValue={(name) => {
          view.value = name
        }}
      />
    </div>
  )
}
