import { useSignal } from '@preact/signals'
import { texts } from '../texts/index.ts'
import { Button } from './button.tsx'
import { saveFile } from './save-file.ts'

/** What is shown at once: a megabyte in one element makes a page slow. */
const SHOWN = 10_000
const TYPES = {
  txt: 'text/plain',
  html: 'text/html',
  json: 'application/json',
  eml: 'message/rfc822',
} as const

/** A text of any length, to be read, copied or kept as a file. */
export function LongText({
  text,
  name,
  type = 'txt',
}: {
  readonly text: string
  /** Of the file. */
  readonly name: string
  readonly type?: keyof typeof TYPES
}) {
  const whole = useSignal(text.length <= SHOWN)
  const copied = useSignal(false)
  async function copy(): Promise<void> {
    await navigator.clipboard.writeText(text)
    copied.value = true
  }
  const save = (): void => saveFile(new Blob([text], { type: TYPES[type] }), `${name}.${type}`)
  return (
    <div class="long-text">
      <pre>{whole.value ? text : `${text.slice(0, SHOWN)}…`}</pre>
      <div class="actions">
        {whole.value ? null : (
          <Button
            onClick={() => {
              whole.value = true
            }}
          >
            {texts.longText.whole(text.length)}
          </Button>
        )}
        {navigator.clipboard === undefined ? null : (
          <Button icon={copied.value ? 'check' : 'copy'} onClick={copy}>
            {copied.value ? texts.actions.copied : texts.actions.copy}
          </Button>
        )}
        <Button onClick={save}>{texts.longText.save}</Button>
      </div>
    </div>
  )
}

/** A value as indented JSON. */
export function JsonView({ value, name }: { readonly value: unknown; readonly name: string }) {
  return <LongText text={JSON.stringify(value, null, 2)} name={name} type="json" />
}
