import { createNotifier } from 'carillon'
import { devMailbox } from 'carillon/dev-mailbox'
import { sqlite } from 'carillon/sqlite'

export const mailbox = devMailbox() // catches what customers send

export default createNotifier({
  storage: sqlite({ file: 'notifications.db' }),
  channels: mailbox.channels,
  organizations: 'required', // no call can forget its customer
  webhooks: { allow: ['127.0.0.1/32'], allowHttp: true }, // of customers on this machine: omit it in production
})
