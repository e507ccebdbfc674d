import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { startOfPage } from '../app/router.ts'
import { texts } from '../texts/index.ts'

/** A page: its title, which is also the document's, its actions and its content. A new page takes the focus. */
export function Page({
  title,
  intro,
  actions,
  children,
}: {
  readonly title: string
  readonly intro?: ComponentChildren
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · ${texts.app.name}`
  }, [title])
  useEffect(() => {
    // Right after loading, the focus belongs where the browser has put it.
    if (document.activeElement !== null && document.activeElement !== document.body) heading.current?.focus()
    scrollTo(0, startOfPage())
  }, [])
  return (
    <div class="page">
      <header class="page-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {intro === undefined ? null : <p class="intro">{intro}</p>}
        </div>
        {actions === undefined ? null : <div class="actions">{actions}</div>}
      </header>
      {children}
    </div>
  )
}
