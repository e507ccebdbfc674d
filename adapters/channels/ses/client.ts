import { peerFault } from '../../peer/peer-fault.ts'
import type { AwsClient } from '../kit/http/aws-client.ts'

/** The members in use of @aws-sdk/client-sesv2, so that the declarations do not need the package. */
export interface SesModule {
  readonly SESv2Client: new (options: Readonly<Record<string, unknown>>) => AwsClient
  readonly SendEmailCommand: new (input: Readonly<Record<string, unknown>>) => object
  readonly GetAccountCommand: new (input: Readonly<Record<string, unknown>>) => object
}

/** @throws NotifierError `missing_peer` */
export async function loadSes(): Promise<SesModule> {
  try {
    const module: unknown = await import(/* turbopackOptional: true */ '@aws-sdk/client-sesv2')
    return module as SesModule
  } catch (cause) {
    throw peerFault('@aws-sdk/client-sesv2', cause)
  }
}
