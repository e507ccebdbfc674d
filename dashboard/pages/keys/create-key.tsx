import { useSignal } from '@preact/signals'
import { ask } from '../../app/api.ts'
import { mayReadContent } from '../../app/session.ts'
import { texts } from '../../texts/index.ts'
import { settings } from '../../texts/settings.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Checkbox, Select, TextArea, TextField } from '../../ui/field.tsx'
import { Form, FormActions, useForm } from '../../ui/form.tsx'
import { SecretDialog } from '../../ui/secret.tsx'
import { type CreatedKey, PERMISSIONS, type Permission } from './key.ts'
import { TryKey } from './try-key.tsx'

const said = settings.keys
const EXPIRIES = { never: null, days30: 30, days90: 90, days365: 365 } as const
type Expiry = keyof typeof EXPIRIES

/** Asks for what a new key may do, then shows its secret, once. */
export function CreateKey({ onDone }: { readonly onDone: () => void }) {
  const created = useSignal<CreatedKey | null>(null)
  const key = created.value
  if (key !== null) {
    const { name, permission, secret } = key
    return (
      <SecretDialog
        title={said.secretTitle}
        hint={said.secretHint}
        label={name}
        secret={secret}
        onDone={onDone}
      >
        <TryKey permission={permission} secret={secret} />
      </SecretDialog>
    )
  }
  return (
    <KeyForm
      onClose={onDone}
      onCreated={(key) => {
        created.value = key
      }}
    />
  )
}

function KeyForm({
  onClose,
  onCreated,
}: {
  readonly onClose: () => void
  readonly onCreated: (key: CreatedKey) => void
}) {
  const name = useSignal('')
  const permission = useSignal<Permission>('Write')
  const expiry = useSignal<Expiry>('never')
  const addresses = useSignal('')
  const content = useSignal(false)
  const form = useForm(async () => {
    const days = EXPIRIES[expiry.value]
    const body = {
      name: name.value.trim(),
      permission: permission.value,
      ...(content.value ? { grants: ['content'] } : {}),
      ...(days === null ? {} : { expiresAt: new Date(Date.now() + days * 86_400_000).toISOString() }),
      allowedIps: addresses.value.split(/[\s,]+/).filter((address) => address !== ''),
    }
    onCreated(await ask<CreatedKey>('/v1/api-keys', { method: 'POST', body }))
  })
  return (
    <Dialog title={said.create} onClose={onClose}>
      <Form state={form} fields={['name', 'allowedIps']}>
        <TextField
          label={said.name}
          hint={said.nameHint}
          error={form.errorOf('name')}
          value={name.value}
          autoFocus
          maxLength={200}
          onValue={(value) => {
            name.value = value
          }}
        />
        <Select
          label={said.permission}
          hint={said.permissions[permission.value]}
          value={permission.value}
          choices={PERMISSIONS.map((value) => ({ value, label: value }))}
          onValue={(value) => {
            permission.value = value
          }}
        />
        <Select
          label={said.expires}
          value={expiry.value}
          choices={(Object.keys(EXPIRIES) as Expiry[]).map((value) => ({ value, label: said.expiry[value] }))}
          onValue={(value) => {
            expiry.value = value
          }}
        />
        <TextArea
          label={said.addresses}
          hint={said.addressesHint}
          error={form.errorOf('allowedIps')}
          value={addresses.value}
          rows={2}
          mono
          onValue={(value) => {
            addresses.value = value
          }}
        />
        {mayReadContent() ? (
          <Checkbox
            label={said.content}
            hint={said.contentHint}
            checked={content.value}
            onValue={(value) => {
              content.value = value
            }}
          />
        ) : null}
        <FormActions state={form} onCancel={onClose}>
          {texts.actions.create}
        </FormActions>
      </Form>
    </Dialog>
  )
}
