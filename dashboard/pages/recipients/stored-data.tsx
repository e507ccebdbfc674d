import { useSignal } from '@preact/signals'
import { ask } from '../../app/api.ts'
import { may, mayReadContent } from '../../app/session.ts'
import { useAction } from '../../app/use-action.ts'
import { texts } from '../../texts/index.ts'
import { settings } from '../../texts/settings.ts'
import { Button } from '../../ui/button.tsx'
import { saveFile } from '../../ui/save-file.ts'
import { ErrorNote } from '../../ui/states.tsx'
import { EraseForm } from './erase-form.tsx'

const said = settings.recipients

/** Exports and erases what is stored about a recipient. */
export function StoredData({
  named,
  name,
}: {
  readonly named: Readonly<Record<string, string>>
  readonly name: string
}) {
  const erasing = useSignal(false)
  const action = useAction()
  if (!may('Full Access')) return null
  return (
    <section class="part" aria-labelledby="data">
      <header class="part-head">
        <h2 id="data">{said.data}</h2>
        <div class="actions">
          <Button
            disabled={!mayReadContent()}
            onClick={() =>
              action.run(async () => {
                const file = await ask<Blob>('/v1/exports', { method: 'POST', body: named, file: true })
                saveFile(file, 'export.ndjson')
              })
            }
          >
            {said.export}
          </Button>
          <Button
            kind="danger"
            icon="trash"
            onClick={() => {
              erasing.value = true
            }}
          >
            {said.erase}
          </Button>
        </div>
      </header>
      {action.error === null ? null : <ErrorNote error={action.error} />}
      <p class="hint">
        {said.exportHint} {mayReadContent() ? said.dataHint : texts.permission.content}
      </p>
      {erasing.value ? (
        <EraseForm
          named={named}
          name={name}
          onClose={() => {
            erasing.value = false
          }}
        />
      ) : null}
    </section>
  )
}
