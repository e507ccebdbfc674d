import { useEffect } from 'preact/hooks'
import { followLink, place } from '../app/router.ts'
import { followTheme } from '../app/theme.ts'
import { MessagePage } from './message-page.tsx'
import { MessagesPage } from './messages-page.tsx'

/** The mailbox for development: the same pages as the dashboard's, without signing in. */
export function Mailbox() {
  useEffect(() => {
    followTheme()
    document.addEventListener('click', followLink)
  }, [])
  const id = /^\/messages\/(\d+)$/.exec(place.value.path)?.[1]
  return (
    <main id="content" tabIndex={-1}>
      {id === undefined ? <MessagesPage /> : <MessagePage id={id} />}
    </main>
  )
}
