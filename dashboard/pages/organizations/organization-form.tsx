import { useSignal } from '@preact/signals'
import { ask } from '../../app/api.ts'
import { forgetNames } from '../../app/organization-names.ts'
import { useData } from '../../app/use-data.ts'
import { texts } from '../../texts/index.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Checkbox, TextField } from '../../ui/field.tsx'
import { Form, FormActions, useForm } from '../../ui/form.tsx'
import { count } from '../../ui/number.ts'
import type { Organization, RetentionPreview } from './organization.ts'
import { PlanSelect } from './plan-select.tsx'

const said = texts.organizations
const FIELDS = [
  'id',
  'name',
  'plan',
  'retention.contentDays',
  'retention.logDays',
  'smsCountries',
  'branding.name',
  'branding.logoUrl',
  'branding.color',
  'tracking',
]

/** Creates an organization, or changes one. */
export function OrganizationForm({
  organization,
  onClose,
  onSaved,
}: {
  readonly organization?: Organization
  readonly onClose: () => void
  readonly onSaved: () => void
}) {
  const draft = useSignal(draftOf(organization))
  const set =
    <Name extends keyof Draft>(name: Name) =>
    (value: Draft[Name]): void => {
      draft.value = { ...draft.value, [name]: value }
    }
  const form = useForm(async () => {
    const body = bodyOf(draft.value)
    if (organization !== undefined) {
      await ask(`/v1/organizations/${organization.id}`, { method: 'PATCH', body })
    } else {
      const id = draft.value.id.trim()
      await ask('/v1/organizations', { method: 'POST', body: id === '' ? body : { id, ...body } })
    }
    forgetNames()
    onSaved()
  })
  const { id, name, plan, contentDays, logDays, countries, shown, logo, color, opens, clicks } = draft.value
  const nextPass = (kind: keyof RetentionPreview) =>
    organization === undefined ? null : <NextPass id={organization.id} kind={kind} />
  return (
    <Dialog title={organization === undefined ? said.create : said.edit} onClose={onClose}>
      <Form state={form} fields={FIELDS}>
        <TextField
          label={said.name}
          error={form.errorOf('name')}
          value={name}
          autoFocus
          maxLength={200}
          onValue={set('name')}
        />
        {organization === undefined ? (
          <TextField
            label={said.id}
            hint={said.idHint}
            error={form.errorOf('id')}
            value={id}
            mono
            onValue={set('id')}
          />
        ) : null}
        <PlanSelect error={form.errorOf('plan')} value={plan} onValue={set('plan')} />
        <TextField
          label={said.contentDays}
          hint={[said.contentDaysHint, nextPass('contents')]}
          error={form.errorOf('retention.contentDays')}
          type="number"
          value={contentDays}
          onValue={set('contentDays')}
        />
        <TextField
          label={said.logDays}
          hint={[said.logDaysHint, nextPass('notifications')]}
          error={form.errorOf('retention.logDays')}
          type="number"
          value={logDays}
          onValue={set('logDays')}
        />
        <TextField
          label={said.countries}
          hint={said.countriesHint}
          error={form.errorOf('smsCountries')}
          value={countries}
          onValue={set('countries')}
        />
        <TextField
          label={said.shownName}
          hint={said.shownNameHint}
          error={form.errorOf('branding.name')}
          value={shown}
          maxLength={200}
          onValue={set('shown')}
        />
        <TextField
          label={said.logo}
          hint={said.logoHint}
          error={form.errorOf('branding.logoUrl')}
          type="url"
          value={logo}
          onValue={set('logo')}
        />
        <TextField
          label={said.color}
          hint={said.colorHint}
          error={form.errorOf('branding.color')}
          value={color}
          onValue={set('color')}
        />
        <Checkbox label={said.opens} checked={opens} onValue={set('opens')} />
        <Checkbox label={said.clicks} checked={clicks} onValue={set('clicks')} />
        {form.errorOf('tracking') === null ? null : <p class="error">{form.errorOf('tracking')}</p>}
        <FormActions state={form} onCancel={onClose}>
          {organization === undefined ? texts.actions.create : texts.actions.save}
        </FormActions>
      </Form>
    </Dialog>
  )
}

/** How many the next pass of retention removes, with the saved days. */
function NextPass({ id, kind }: { readonly id: string; readonly kind: keyof RetentionPreview }) {
  const { value } = useData<RetentionPreview>('/v1/retention/preview', { organization: id, everyMs: 0 })
  return value === null ? null : <> {said.nextPass(kind, count(value[kind].removes, value[kind].exact))}</>
}

interface Draft {
  readonly id: string
  readonly name: string
  readonly plan: string
  readonly contentDays: string
  readonly logDays: string
  readonly countries: string
  readonly shown: string
  readonly logo: string
  readonly color: string
  readonly opens: boolean
  readonly clicks: boolean
}

function draftOf(organization: Organization | undefined): Draft {
  return {
    id: '',
    name: organization?.name ?? '',
    plan: organization?.plan ?? '',
    contentDays: organization?.retention.contentDays?.toString() ?? '',
    logDays: organization?.retention.logDays?.toString() ?? '',
    countries: organization?.smsCountries?.join(' ') ?? '',
    shown: organization?.branding.name ?? '',
    logo: organization?.branding.logoUrl ?? '',
    color: organization?.branding.color ?? '',
    opens: organization?.tracking.opens ?? false,
    clicks: organization?.tracking.clicks ?? false,
  }
}

function bodyOf(draft: Draft) {
  const { name, plan, contentDays, logDays, countries, shown, logo, color, opens, clicks } = draft
  const codes = countries.split(/[\s,]+/).filter((code) => code !== '')
  return {
    name: name.trim(),
    plan: plan || null,
    retention: { contentDays: daysOf(contentDays), logDays: daysOf(logDays) },
    smsCountries: codes.length === 0 ? null : codes,
    branding: { name: shown.trim() || null, logoUrl: logo.trim() || null, color: color.trim() || null },
    tracking: { opens, clicks },
  }
}

function daysOf(text: string): number | null {
  return text.trim() === '' ? null : Number(text)
}
