/** Texts of the search on every page. */
export const search = {
  title: 'Search',
  label: 'Find',
  hint: 'An ID, an address or its beginning, metadata such as order:4711, a person or a template.',
  nothing: (text: string) => `Nothing found for “${text}”.`,
  person: (name: string) => `Person ${name}`,
  personHint: 'Messages, refusals, suppression and preferences',
  to: (address: string) => `Notifications to ${address}`,
  toPrefix: (start: string) => `Notifications to addresses that begin with ${start}`,
  metadata: (pair: string) => `Notifications with ${pair}`,
  group: 'Notifications of this group',
  notification: 'Notification',
  template: (name: string) => `Template ${name}`,
  endpoint: 'Webhook endpoint',
  key: 'API keys',
  organization: (name: string) => `Organization ${name}`,
}
