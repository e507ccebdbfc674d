/** The views of one message. */
export const message = {
  label: 'Views of the message',
  html: 'Preview',
  text: 'Text',
  source: 'Source',
  parts: 'Carried along',
  madeOfHtml: 'No text alternative was given. It is made of the HTML when the message is sent.',
}

/** The mailbox for development. */
export const mailbox = {
  title: 'Mailbox',
  one: 'Message',
  intro: 'What this application sends in development. Nothing of it leaves this process.',
  back: 'All messages',
  search: 'Search',
  clear: 'Clear',
  to: 'To',
  from: 'From',
  channel: 'Channel',
  subject: 'Subject',
  caught: 'Sent',
  notification: 'Notification',
  organization: 'Organization',
  noSubject: 'No subject',
  empty: 'Nothing was sent yet',
  emptyHint: 'Messages appear here as soon as the application sends them.',
  links: 'Links',
  linksHint: 'In the preview they lead nowhere. These open in a new tab.',
  files: 'Files',
  file: (name: string, bytes: string) => `${name} (${bytes})`,
  mail: 'Mail source',
}
