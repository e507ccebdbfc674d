import { place } from '../../app/router.ts'
import { settings } from '../../texts/settings.ts'
import { Page } from '../../ui/page.tsx'
import { FindForm } from './find-form.tsx'
import { RecipientView } from './recipient-view.tsx'

const said = settings.recipients
const NAMES = ['recipient', 'channel', 'to'] as const

/** Finds a recipient, by the application's id or by an address, and shows when and whether messages go to them. */
export function RecipientsPage() {
  const { query } = place.value
  const named = Object.fromEntries(NAMES.flatMap((name) => (query[name] ? [[name, query[name]]] : [])))
  const key = JSON.stringify(named)
  return (
    <Page title={said.title} intro={said.intro}>
      <FindForm key={key} named={named} />
      {key === '{}' ? null : <RecipientView key={`of ${key}`} named={named} />}
    </Page>
  )
}
