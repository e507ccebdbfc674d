import { useList } from '../../app/use-list.ts'
import { texts } from '../../texts/index.ts'
import { ChannelFilter, Filters, filtersOf, TextFilter } from '../../ui/filters.tsx'
import { List } from '../../ui/list.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty } from '../../ui/states.tsx'
import { CAUSE, keyOfRefusal, REST, type Refusal, WHOM } from './refusal.tsx'

const said = texts.refusals
const NAMES = ['channel', 'to', 'recipient'] as const
const COLUMNS = [WHOM, { ...CAUSE, main: false }, ...REST]

/** The last messages of an organization that were refused. */
export function RefusalsPage() {
  const filters = filtersOf(NAMES)
  const list = useList<Refusal>('/v1/refusals', { query: filters, keyOf: keyOfRefusal })
  return (
    <Page title={said.title} intro={said.intro}>
      <Filters names={NAMES}>
        <ChannelFilter />
        <TextFilter name="to" label={said.to} />
        <TextFilter name="recipient" label={said.person} />
      </Filters>
      <List
        label={said.title}
        state={list}
        columns={COLUMNS}
        filtered={Object.keys(filters).length > 0}
        empty={
          <Empty icon="check" title={said.empty}>
            <p>{said.emptyHint}</p>
          </Empty>
        }
      />
    </Page>
  )
}
