import { may, session } from '../../app/session.ts'
import { useData } from '../../app/use-data.ts'
import { texts } from '../../texts/index.ts'
import { Page } from '../../ui/page.tsx'
import { Empty, ErrorNote, Loading } from '../../ui/states.tsx'
import { Editor } from './editor.tsx'
import type { Template } from './template.ts'
import { Versions } from './versions.tsx'

const said = texts.templates

export function TemplatePage({ params: { id = '' } }: { readonly params: Readonly<Record<string, string>> }) {
  const { value, error, reload } = useData<Template>(`/v1/templates/${encodeURIComponent(id)}`)
  if (value === null) {
    return (
      <Page title={said.one}>
        {error === null ? <Loading /> : <ErrorNote error={error} retry={reload} />}
      </Page>
    )
  }
  return (
    <Editor stored={value} reload={reload} title={value.name} intro={said.versionOf(value)}>
      {(changed) => <Versions key={value.version} template={value} changed={changed} onRestored={reload} />}
    </Editor>
  )
}

export function NewTemplatePage() {
  const usable = session.value.kinds.filter(({ configured }) => configured)
  if (!may('Write') || usable.length === 0) {
    return (
      <Page title={said.create}>
        <Empty
          icon="templates"
          title={usable.length === 0 ? said.noChannels : texts.permission.needs('Write')}
        />
      </Page>
    )
  }
  return <Editor stored={null} title={said.create} intro={said.createHint} />
}
