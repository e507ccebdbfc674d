import { hrefOf, place } from '../../app/router.ts'
import { inOrganization } from '../../app/session.ts'
import { texts } from '../../texts/index.ts'

const said = texts.templates.nav
const PAGES = [
  ['/templates', said.templates],
  ['/templates/layouts', said.layouts],
  ['/templates/partials', said.partials],
  ['/templates/messages', said.messages],
] as const

/** `true`: the page is below it. */
function currentOf(path: string): 'page' | 'true' | undefined {
  const here = place.value.path
  if (here === path) return 'page'
  return path !== inOrganization('/templates') && here.startsWith(`${path}/`) ? 'true' : undefined
}

/** Leads to what templates are made of. */
export function TextNav() {
  return (
    <nav class="tab-list" aria-label={said.label}>
      {PAGES.map(([path, title]) => {
        const to = inOrganization(path)
        return (
          <a key={path} href={hrefOf(to)} aria-current={currentOf(to)}>
            {title}
          </a>
        )
      })}
    </nav>
  )
}
