import { useEffect } from 'preact/hooks'
import { texts } from '../texts/index.ts'
import { Confirmation } from '../ui/dialog.tsx'
import { Page } from '../ui/page.tsx'
import { Loading } from '../ui/states.tsx'
import { Toasts } from '../ui/toast.tsx'
import { Frame } from './frame.tsx'
import { findPage } from './pages.tsx'
import { followLink, hrefOf, navigate, place } from './router.ts'
import { inOrganization, isOperator, openSession, organization, overAll, state } from './session.ts'
import { SignInAgain, SignInPage } from './sign-in.tsx'
import { followTheme } from './theme.ts'

export function App() {
  useEffect(() => {
    followTheme()
    void openSession()
    document.addEventListener('click', followLink)
  }, [])
  const { kind } = state.value
  if (kind === 'unknown') return <Loading />
  if (kind === 'none') return <SignInPage />
  return (
    <>
      <Frame>
        <CurrentPage />
      </Frame>
      <Confirmation />
      <Toasts />
      {kind === 'ended' ? <SignInAgain /> : null}
    </>
  )
}

/** Where the root leads people who have no page of operators. */
function startOf(path: string): string | null {
  return path === '/' && !isOperator.value ? inOrganization('/') : null
}

function CurrentPage() {
  const { path } = place.value
  const start = startOf(path)
  useEffect(() => {
    if (start !== null) void navigate(start, {}, 'replace')
  }, [start])
  if (start !== null) return null
  const found = findPage(path, isOperator.value)
  if (found === null) return <NotFound />
  const { component: Component, overAll: showsAll, menu } = found.entry
  if (overAll.value && showsAll !== true) {
    return (
      <OneOrganization title={menu === undefined ? texts.app.allOrganizations : texts.pages[menu.title]} />
    )
  }
  return <Component key={`${path} ${organization.value}`} params={found.params} />
}

function OneOrganization({ title }: { readonly title: string }) {
  return (
    <Page title={title} intro={texts.app.oneOrganization}>
      <p>
        <a class="button plain" href={hrefOf('/organizations')}>
          {texts.app.organizations}
        </a>
      </p>
    </Page>
  )
}

function NotFound() {
  return (
    <Page title={texts.notFound.title} intro={texts.notFound.hint}>
      <p>
        <a class="button plain" href={hrefOf('/')}>
          {texts.notFound.home}
        </a>
      </p>
    </Page>
  )
}
