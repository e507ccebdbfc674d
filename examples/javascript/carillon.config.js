import { createNotifier } from 'carillon'
import { devMailbox } from 'carillon/dev-mailbox'
import { sqlite } from 'carillon/sqlite'

export const mailbox = devMailbox() // catches what you send

export default createNotifier({
  storage: sqlite({ file: 'notifications.db' }),
  channels: mailbox.channels,
})
