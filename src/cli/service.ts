import type { Client, OrganizationClient } from '../client/types.ts'
import type { Call } from './command.ts'
import { type Connection, connect } from './connect.ts'
import type { ExitCode } from './exit.ts'

/** The service that a command calls. */
export interface Service {
  /** The methods of the organization that the flags name. */
  readonly client: OrganizationClient
  /** Those of all organizations where the flags say `*`. */
  readonly lists: Pick<Client['allOrganizations'], 'notifications' | 'deadLetters' | 'logs'>
  readonly connection: Connection
}

/** Connects for one command. */
export async function withService(
  { terminal, flags }: Call,
  work: (service: Service) => Promise<ExitCode | undefined>,
): Promise<ExitCode | undefined> {
  const connection = await connect(terminal, flags)
  try {
    const { createClient } = await import('../client/client.ts')
    const { url, apiKey, fetch, organization } = connection
    const whole = createClient({ url, apiKey, fetch })
    const client = organization === undefined ? whole : whole.organization(organization)
    return await work({ client, lists: organization === '*' ? whole.allOrganizations : client, connection })
  } finally {
    await connection.close()
  }
}
