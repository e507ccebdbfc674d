import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { texts } from '../texts/index.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Form, useForm } from '../ui/form.tsx'
import { Logo } from '../ui/logo.tsx'
import { ErrorNote } from '../ui/states.tsx'
import { signIn, state } from './session.ts'

const { keys, signIn: elsewhere } = document.documentElement.dataset

/** The page for people who are not signed in. */
export function SignInPage() {
  useEffect(() => {
    document.title = texts.signIn.title
  }, [])
  const error = state.value.kind === 'none' ? state.value.error : null
  return (
    <main class="sign-in">
      <Logo />
      <h1>{texts.signIn.title}</h1>
      {error === null ? null : <ErrorNote error={error} />}
      <Ways />
    </main>
  )
}

/** Stands over a page whose session has ended. */
export function SignInAgain() {
  return (
    <Dialog title={texts.signIn.again}>
      <p>{texts.signIn.againHint}</p>
      <Ways />
    </Dialog>
  )
}

function Ways() {
  return (
    <>
      {keys === 'true' ? <KeyForm /> : null}
      {elsewhere === undefined ? null : (
        <p>
          <a class="button plain" href={elsewhere}>
            {texts.signIn.elsewhere}
          </a>
        </p>
      )}
      {keys !== 'true' && elsewhere === undefined ? <p>{texts.signIn.closed}</p> : null}
    </>
  )
}

function KeyForm() {
  const key = useSignal('')
  const form = useForm(() => signIn({ apiKey: key.value.trim() }))
  return (
    <Form state={form} fields={[]}>
      <TextField
        label={texts.signIn.key}
        hint={texts.signIn.keyHint}
        type="password"
        name="api-key"
        autoComplete="current-password"
        spellcheck={false}
        value={key.value}
        onValue={(value) => {
          key.value = value
        }}
      />
      <Button kind="primary" type="submit" busy={form.busy}>
        {texts.signIn.submit}
      </Button>
    </Form>
  )
}
