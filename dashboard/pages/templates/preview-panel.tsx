import { useSignal } from '@preact/signals'
import { texts } from '../../texts/index.ts'
import { HtmlPreview } from '../../ui/html-preview.tsx'
import { ErrorNote } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { type Preview, type PreviewState, standsAtField } from './use-preview.ts'

const said = texts.templates

/** The message that recipients get. While it cannot be rendered, the last one stays. */
export function PreviewPanel({
  state,
  hasSubject,
}: {
  readonly state: PreviewState
  readonly hasSubject: boolean
}) {
  const { preview, error } = state
  const fault = error === null || standsAtField(state) ? null : <ErrorNote error={error} />
  if (preview === null) {
    return fault ?? <p class="muted">{error === null ? said.previewEmpty : said.previewBroken}</p>
  }
  return (
    <>
      {fault}
      <p class="hint" role="status">
        {error === null ? '' : said.previewStale}
      </p>
      {hasSubject ? (
        <p>
          <span class="muted">{said.subject}: </span>
          {preview.subject || <span class="muted">{said.noSubject}</span>}
        </p>
      ) : null}
      {preview.format === 'html' ? <Html of={preview} /> : <pre>{preview.body}</pre>}
      {preview.sms === undefined ? null : <p class="hint">{said.segments(preview.sms)}</p>}
    </>
  )
}

function Html({ of: { body, text } }: { readonly of: Preview }) {
  const tab = useSignal<'html' | 'text' | 'source'>('html')
  return (
    <Tabs
      label={said.preview}
      value={tab.value}
      onValue={(name) => {
        tab.value = name
      }}
      tabs={[
        {
          name: 'html',
          label: said.views.html,
          content: () => <HtmlPreview value={body} title={said.preview} />,
        },
        {
          name: 'text',
          label: said.views.text,
          content: () => (text === undefined ? <p class="muted">{said.textIsMade}</p> : <pre>{text}</pre>),
        },
        { name: 'source', label: said.views.source, content: () => <pre>{body}</pre> },
      ]}
    />
  )
}
