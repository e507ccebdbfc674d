import { type Fields, type Method, methodsOf } from './methods.ts'
import { OF_ALL, OF_ONE, OF_SERVICE } from './operations.ts'
import { type ClientOptions, type Send, sender } from './request.ts'
import type { Client, OrganizationClient } from './types.ts'

/**
 * A client of a REST API of Carillon, with the methods of a notifier. It needs only `fetch`.
 *
 * @throws CarillonError `invalid_configuration`
 *
 * @example
 * const apiKey = process.env.CARILLON_API_KEY ?? ''
 * const carillon = createClient({ url: 'https://example.com/notifications', apiKey })
 * await carillon.send({ channel: 'email', to: 'ada@example.com', subject: 'Shipped', body: 'Order ord_123 is on its way.' })
 * for await (const { id, error } of carillon.notifications.list({ status: 'failed' })) console.log(id, error?.code)
 */
export function createClient(options: ClientOptions): Client {
  const send = sender(options)
  const client = {
    ...organizationClient(send),
    ...methodsOf(OF_SERVICE, send),
    allOrganizations: withErase(methodsOf(OF_ALL, send, '*') as unknown as Different),
    organization: (id: string) => organizationClient(send, id),
  }
  return client as unknown as Client
}

/** Operations whose methods in code have other parameters, or another result. */
interface Different {
  readonly sendBatch: Method
  readonly explain: Method
  readonly templates: { readonly preview: Method }
  readonly messages: { readonly put: Method }
  readonly attachments: { readonly upload: Method }
  readonly people: { readonly erase: Method }
  readonly preferences: Readonly<Record<string, Method>>
  readonly organizationPreferences: Readonly<Record<string, Method>>
}

function withErase(methods: Pick<Different, 'people'>): object {
  const { erase } = methods.people
  return {
    ...methods,
    people: {
      ...methods.people,
      erase: (person: Fields, given?: Fields, ...input: unknown[]) =>
        erase({ ...given, ...person }, ...input),
    },
  }
}

function organizationClient(send: Send, organizationId?: string): OrganizationClient {
  const methods = methodsOf(OF_ONE, send, organizationId) as unknown as Different
  const { organizationPreferences, ...api } = methods
  const preferences = Object.entries(api.preferences).map(([name, ofPerson]): [string, Method] => [
    name,
    (who, ...input) =>
      (who as Fields).organization === true
        ? (organizationPreferences[name] as Method)(...input)
        : ofPerson(who, ...input),
  ])
  const client = {
    ...withErase(api),
    sendBatch: (notifications: unknown, ...input: unknown[]) => api.sendBatch({ notifications }, ...input),
    async explain(...input: unknown[]) {
      return ((await api.explain(...input)) as Fields).explanations
    },
    templates: {
      ...api.templates,
      preview: (idOrName: string, variables?: Fields, given?: Fields, ...input: unknown[]) =>
        api.templates.preview(idOrName, { ...given, variables }, ...input),
    },
    messages: {
      ...api.messages,
      put: (locale: string, messages: Fields, given?: Fields, ...input: unknown[]) =>
        api.messages.put(locale, { ...given, messages }, ...input),
    },
    attachments: {
      ...api.attachments,
      upload: (content: unknown, { filename, contentType }: Fields, ...input: unknown[]) =>
        api.attachments.upload({ filename }, { content, contentType }, ...input),
    },
    preferences: Object.fromEntries(preferences),
  }
  return client as unknown as OrganizationClient
}
