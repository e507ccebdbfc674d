import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Time } from '../../ui/time.tsx'
import type { Key } from './key.ts'
import { type Rotation, rotationsOf } from './rotation.ts'

const said = texts.keys

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
      {rotationsOf(keys).map((rotation) => (
        <section class="note" key={rotation.next.id} aria-label={said.rotating(rotation.old.name)}>
          <div>
            <p>
              <strong>{said.rotating(rotation.old.name)}</strong>
            </p>
            <Advice of={rotation} />
          </div>
          {onDelete === undefined ? null : (
            <Button icon="trash" onClick={() => onDelete(rotation.old)}>
              {said.rotateDelete}
            </Button>
          )}
        </section>
      ))}
    </>
  )
}

function Advice({ of: { old, next, readyAt, stillUsed } }: { readonly of: Rotation }) {
  if (stillUsed) {
    return (
      <p>
        {said.rotateUsed} <Time at={old.lastUsedAt} />.
      </p>
    )
  }
  if (Date.now() < readyAt) {
    return (
      <p>
        {said.rotateWait} <Time at={new Date(readyAt).toISOString()} />.
      </p>
    )
  }
  return (
    <p>
      {said.rotateReady} <Time at={next.createdAt} style="short" />.
    </p>
  )
}
