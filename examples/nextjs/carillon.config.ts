import { createNotifier } from 'carillon'
import { sqlite } from 'carillon/sqlite'

export default () =>
  createNotifier({
    storage: sqlite({ file: 'notifications.db' }),
    channels: {
      email: {
        name: 'console',
        async send({ to, subject }) {
          console.log(`${to}: ${subject}`)
          return { kind: 'accepted' }
        },
      },
    },
  })
