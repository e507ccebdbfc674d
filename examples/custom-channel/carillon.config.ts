import { createNotifier } from 'carillon'
import { sqlite } from 'carillon/sqlite'
import { acmePager } from './pager.ts'

export const acme = { url: 'http://127.0.0.1:4000', key: process.env.ACME_KEY ?? 'the key of Acme' }

export default createNotifier({
  storage: sqlite({ file: 'notifications.db' }),
  channels: { pager: acmePager(acme) },
})
