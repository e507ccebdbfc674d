import type { Command } from './command.ts'

export const COMMANDS: readonly Command[] = [
  {
    name: 'call',
    about: 'Call any operation of the REST API; without one, list them.',
    arguments: [{ name: 'operation', about: 'Its id, such as sendNotification.', required: false }],
    examples: [
      'carillon call sendNotification --channel email --to ada@example.com --subject Hello --text Hi',
    ],
    open: () => import('./call.ts').then(({ call }) => call),
  },
]
