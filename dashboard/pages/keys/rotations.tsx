import { settings } from '../../texts/settings.ts'
import { Button } from '../../ui/button.tsx'
import { Time } from '../../ui/time.tsx'
import type { Key } from './key.ts'

const said = settings.keys

/** The rotations that are under way, and what is to be done about each. */
export function Rotations({
  keys,
  onDelete,
}: {
  readonly keys: readonly Key[]
  /** Left out: the person may not delete keys. */
  readonly onDelete?: (key: Key) => Promise<void>
}) {
  return (
    <>
      {keys.map((old) => {
        const next = keys.find(({ id }) => id === old.replacedBy)
        return next === undefined ? null : (
          <section class="note" key={old.id} aria-label={said.rotating(old.name)}>
            <div>
              <p>
                <strong>{said.rotating(old.name)}</strong>
              </p>
              <Advice old={old} next={next} />
            </div>
            {onDelete === undefined ? null : (
              <Button icon="trash" onClick={() => onDelete(old)}>
                {said.rotateDelete}
              </Button>
            )}
          </section>
        )
      })}
    </>
  )
}

function Advice({ old, next }: { readonly old: Key; readonly next: Key }) {
  const ends = old.expiresAt ?? ''
  const stopped = Date.parse(ends) <= Date.now()
  const used = (old.lastUsedAt ?? '') > next.createdAt
  return (
    <p>
      {stopped ? said.rotateStopped : said.rotateStops} <Time at={ends} />.{' '}
      {used ? said.rotateUsed : said.rotateUnused} <Time at={used ? old.lastUsedAt : next.createdAt} />.
    </p>
  )
}
