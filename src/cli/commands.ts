import { type Command, YES } from './command.ts'
import type { Argument, Flags } from './flags.ts'

const IDS: readonly Argument[] = [{ name: 'id', about: 'Ids of notifications.', many: true }]
const SINCE: Flags = {
  since: { value: 'time', about: 'Accepted since: 30m, 24h, 7d, or a time in ISO 8601.' },
}
const FILTERS: Flags = {
  ...SINCE,
  channel: { value: 'name', about: 'Only this channel.' },
  code: { value: 'code', about: 'Only this error code.' },
  provider: { value: 'name', about: 'Only this provider.' },
}
const TEMPLATES: readonly Argument[] = [
  { name: 'folder', about: 'Template files. Default: templates.', required: false },
]
const OPERATOR: Flags = { operator: { about: 'Keys of no organization; not with "--url".' } }

/** In the order of the help. */
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
  {
    name: 'init',
    about: 'Write a configuration and a program that runs at once, for the framework of this folder.',
    flags: { 'dry-run': { about: 'Show the files, and write none.' }, ...YES },
    examples: ['carillon init --dry-run', 'carillon init'],
    needs: 'nothing',
    load: () => import('./init/init.ts').then(({ init }) => init),
  },
  {
    name: 'dev',
    about: 'Serve dashboard, mailbox and REST API for development. It delivers nothing.',
    flags: {
      port: { value: 'number', about: 'Port. Default: 4000; 0: any free one.' },
      host: { value: 'address', about: 'Address to listen on. Default: 127.0.0.1, this machine alone.' },
      templates: { value: 'folder', about: 'Template files, read again when one changes.' },
      'forward-to': {
        value: 'url',
        about: 'Post signed events to this address, with a secret that stays the same.',
      },
    },
    examples: ['carillon dev', 'carillon dev --templates texts --forward-to http://localhost:3000/events'],
    needs: 'notifier',
    load: () => import('./dev/dev.ts').then(({ dev }) => dev),
  },
  {
    name: 'migrate',
    about: 'Create or update the schema of the storage. Many processes may do it at once.',
    flags: {
      status: { about: 'Only say which version the schema has. Ends with 1 if steps are pending.' },
      'dry-run': { about: 'Only print the SQL of the pending steps.' },
    },
    examples: ['carillon migrate', 'carillon migrate --status', 'carillon migrate --dry-run'],
    needs: 'notifier',
    load: () => import('./commands/notifier.ts').then(({ migrate }) => migrate),
  },
  {
    name: 'doctor',
    about:
      'Check Node.js, the configuration, storage, clocks, providers, senders and webhooks, with a remedy for each finding.',
    flags: {
      dns: {
        value: 'server',
        about: 'DNS server to ask about senders. Default: those of the system.',
        many: true,
      },
      dkim: {
        value: 'selector',
        about: 'Name of a DKIM key to check for each domain of senders.',
        many: true,
      },
    },
    examples: ['carillon doctor', 'carillon doctor --dkim s1 --dns 1.1.1.1'],
    needs: 'notifier',
    load: () => import('./commands/doctor.ts').then(({ doctor }) => doctor),
  },
  {
    name: 'worker',
    about: 'Deliver, until SIGINT or SIGTERM.',
    flags: {
      timeout: { value: 'duration', about: 'Longest wait for running attempts at the end. Default: 10s.' },
    },
    examples: ['carillon worker', 'carillon worker --timeout 30s'],
    needs: 'notifier',
    load: () => import('./commands/notifier.ts').then(({ worker }) => worker),
  },
  {
    name: 'notifications list',
    about: 'List notifications, newest first.',
    flags: {
      status: { value: 'status', about: 'Only this status, such as failed.' },
      to: { value: 'address', about: 'Only to this address.' },
      template: { value: 'name', about: 'Only of this template.' },
      ...FILTERS,
      limit: { value: 'number', about: 'Most results. Default: 20.' },
    },
    examples: ['carillon notifications list --status failed --since 24h'],
    needs: 'service',
    load: () => import('./commands/notifications.ts').then(({ list }) => list),
  },
  {
    name: 'notifications show',
    about: 'Show a notification, its history, and why it went or did not.',
    arguments: [{ name: 'id', about: 'Id of the notification.' }],
    examples: ['carillon notifications show notif_3fJ0kT9sLrZy'],
    needs: 'service',
    load: () => import('./commands/notifications.ts').then(({ show }) => show),
  },
  {
    name: 'notifications cancel',
    about: 'Cancel notifications that wait for an attempt.',
    arguments: IDS,
    flags: YES,
    examples: ['carillon notifications cancel notif_3fJ0kT9sLrZy --yes'],
    needs: 'service',
    load: () => import('./commands/notifications.ts').then(({ cancel }) => cancel),
  },
  {
    name: 'notifications resend',
    about: 'Send messages again as new notifications.',
    arguments: IDS,
    examples: ['carillon notifications resend notif_3fJ0kT9sLrZy'],
    needs: 'service',
    load: () => import('./commands/notifications.ts').then(({ resend }) => resend),
  },
  {
    name: 'notifications retry',
    about: 'Deliver failed notifications again, as themselves.',
    arguments: IDS,
    examples: ['carillon notifications retry notif_3fJ0kT9sLrZy'],
    needs: 'service',
    load: () => import('./commands/notifications.ts').then(({ retry }) => retry),
  },
  {
    name: 'failures',
    about: 'Count failed notifications by cause.',
    flags: FILTERS,
    examples: ['carillon failures --since 24h'],
    needs: 'service',
    load: () => import('./commands/failures.ts').then(({ show }) => show),
  },
  {
    name: 'failures retry',
    about: 'Retry failed notifications in bulk.',
    flags: {
      ...FILTERS,
      rate: { value: 'number', about: 'Notifications due per second. Default: all at once.' },
      most: { value: 'number', about: 'Most notifications. Default: 10000.' },
      'dry-run': { about: 'Only count.' },
      ...YES,
    },
    examples: ['carillon failures retry --since 24h --code provider_error --rate 10'],
    needs: 'service',
    load: () => import('./commands/failures.ts').then(({ retry }) => retry),
  },
  {
    name: 'logs',
    about: 'Show the delivery log, oldest first.',
    arguments: [{ name: 'id', about: 'Only of this notification.', required: false }],
    flags: {
      follow: { about: 'Go on until interrupted.' },
      channel: { value: 'name', about: 'Only this channel.' },
      status: { value: 'status', about: 'Only this status.' },
      limit: { value: 'number', about: 'Most entries to begin with. Default: 20.' },
    },
    examples: ['carillon logs --follow', 'carillon logs --follow --json --status failed'],
    needs: 'service',
    load: () => import('./commands/logs.ts').then(({ logs }) => logs),
  },
  {
    name: 'templates pull',
    about: 'Write the stored templates, layouts, partials and messages into a folder.',
    arguments: TEMPLATES,
    flags: {
      delete: { about: 'Also remove files of texts that are not stored.' },
      'dry-run': { about: 'Only list what would change.' },
      ...YES,
    },
    examples: ['carillon templates pull', 'carillon templates pull texts --dry-run'],
    needs: 'service',
    load: () => import('./commands/templates.ts').then(({ pull }) => pull),
  },
  {
    name: 'templates push',
    about: 'Show what differs, and store the texts of a folder.',
    arguments: TEMPLATES,
    flags: {
      draft: { about: 'Save changes of templates as drafts, and leave out the rest.' },
      delete: { about: 'Also delete stored texts that the folder does not have.' },
      'dry-run': { about: 'Only show what would change.' },
      ...YES,
    },
    examples: ['carillon templates push --dry-run', 'carillon templates push texts --draft --yes'],
    needs: 'service',
    load: () => import('./commands/templates.ts').then(({ push }) => push),
  },
  {
    name: 'templates diff',
    about: 'Show how a folder differs from what is stored. Ends with 1 if it does.',
    arguments: TEMPLATES,
    examples: ['carillon templates diff', 'carillon templates diff texts > changes.diff'],
    needs: 'service',
    load: () => import('./commands/templates.ts').then(({ diff }) => diff),
  },
  {
    name: 'templates lint',
    about: 'Find faults of the templates of a folder. Ends with 1 if one is an error.',
    arguments: TEMPLATES,
    flags: { stored: { about: 'Those that are stored, in place of files.' } },
    examples: ['carillon templates lint', 'carillon templates lint --stored'],
    needs: 'service',
    load: () => import('./commands/templates.ts').then(({ lint }) => lint),
  },
  {
    name: 'keys list',
    about: 'List API keys, newest first.',
    flags: OPERATOR,
    examples: ['carillon keys list'],
    needs: 'service',
    load: () => import('./commands/keys.ts').then(({ list }) => list),
  },
  {
    name: 'keys create',
    about: 'Create a key. It goes to stdout, once.',
    arguments: [{ name: 'name', about: 'To tell keys apart.' }],
    flags: {
      permission: { value: 'level', about: '"Read Only", "Write" or "Full Access". Default: Write.' },
      grant: { value: 'grant', about: '"content": read the text of messages.', many: true },
      expires: { value: 'duration', about: 'How long it works. Default: forever.' },
      allow: { value: 'network', about: 'Address or CIDR block that may use it. Default: any.', many: true },
      ...OPERATOR,
    },
    examples: ['carillon keys create Shop --permission Write > shop.key'],
    needs: 'service',
    load: () => import('./commands/keys.ts').then(({ create }) => create),
  },
  {
    name: 'keys rotate',
    about: 'Make a key with the rights of an old one. It goes to stdout, once.',
    arguments: [{ name: 'id', about: 'Id of the old key.' }],
    flags: {
      overlap: { value: 'duration', about: 'How long the old key works on. Default: 24h.' },
      ...OPERATOR,
    },
    examples: ['carillon keys rotate key_3fJ0kT9sLrZy --overlap 1h'],
    needs: 'service',
    load: () => import('./commands/keys.ts').then(({ rotate }) => rotate),
  },
  {
    name: 'keys delete',
    about: 'Delete keys. They stop working at once.',
    arguments: [{ name: 'id', about: 'Ids of keys.', many: true }],
    flags: { ...OPERATOR, ...YES },
    examples: ['carillon keys delete key_3fJ0kT9sLrZy'],
    needs: 'service',
    load: () => import('./commands/keys.ts').then(({ remove }) => remove),
  },
]
