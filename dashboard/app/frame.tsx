import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { texts } from '../texts/index.ts'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { Logo } from '../ui/logo.tsx'
import { OrganizationSwitch } from './organization-switch.tsx'
import { PAGES, type PageEntry } from './pages.tsx'
import { hrefOf, place } from './router.ts'
import { SearchBox, SearchKeys } from './search-box.tsx'
import { inOrganization, isOperator, organization, session, signOut } from './session.ts'
import { THEMES, theme } from './theme.ts'

/** What stands around every page: the menu, the person, the organization. */
export function Frame({ children }: { readonly children: ComponentChildren }) {
  const open = useSignal(false)
  const bar = useRef<HTMLElement>(null)
  useEffect(() => {
    open.value = false
  }, [place.value.path])
  useEffect(() => {
    if (!open.value) return
    const close = ({ key }: KeyboardEvent): void => {
      if (key !== 'Escape') return
      open.value = false
      bar.current?.querySelector('button')?.focus()
    }
    document.addEventListener('keydown', close)
    return () => document.removeEventListener('keydown', close)
  }, [open.value])
  return (
    <div class="frame">
      <button type="button" class="skip" onClick={() => document.getElementById('content')?.focus()}>
        {texts.app.skip}
      </button>
      <header ref={bar} class="bar">
        <Button
          kind="quiet"
          icon={open.value ? 'close' : 'menu'}
          label={texts.app.menu}
          expanded={open.value}
          onClick={() => {
            open.value = !open.value
          }}
        />
        <span class="brand">{texts.app.name}</span>
        <SearchBox />
      </header>
      <aside class={`side${open.value ? ' open' : ''}`}>
        <a class="brand" href={hrefOf('/')}>
          <Logo />
          {texts.app.name}
        </a>
        <OrganizationSwitch />
        <SearchBox />
        <nav aria-label={texts.app.menu}>
          <ul>
            {entriesShown().map((entry) => (
              <MenuItem key={entry.scope + entry.path} entry={entry} />
            ))}
          </ul>
        </nav>
        <Person />
      </aside>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      <SearchKeys />
    </div>
  )
}

function entriesShown(): PageEntry[] {
  return PAGES.filter(({ menu, scope }) => {
    if (menu === undefined) return false
    return scope === 'operator' ? isOperator.value : organization.value !== null
  })
}

function MenuItem({ entry }: { readonly entry: PageEntry }) {
  if (entry.menu === undefined) return null
  const { title, icon } = entry.menu
  const path = entry.scope === 'organization' ? inOrganization(entry.path) : entry.path
  const now = place.value.path
  const root = entry.path === '/'
  const current = root ? now === path || `${now}/` === path : now === path || now.startsWith(`${path}/`)
  return (
    <li>
      <a href={hrefOf(path)} aria-current={current ? 'page' : undefined}>
        <Icon name={icon} />
        {texts.pages[title]}
      </a>
    </li>
  )
}

function Person() {
  return (
    <footer class="person">
      <p class="actor" title={texts.app.signedInAs(session.value.actor)}>
        <span>{session.value.name}</span>
        <span class="muted">{session.value.permission}</span>
      </p>
      <Button kind="quiet" icon="out" onClick={signOut}>
        {texts.app.signOut}
      </Button>
      <label class="theme">
        <span>{texts.app.theme}</span>
        <select
          value={theme.value}
          onChange={(event) => {
            theme.value = THEMES.find((name) => name === event.currentTarget.value) ?? 'auto'
          }}
        >
          {THEMES.map((name) => (
            <option key={name} value={name}>
              {texts.app.themes[name]}
            </option>
          ))}
        </select>
      </label>
    </footer>
  )
}
