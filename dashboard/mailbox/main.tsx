import { render } from 'preact'
import { Mailbox } from './mailbox.tsx'

render(<Mailbox />, document.body)
