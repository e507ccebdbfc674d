import { peerFault } from '../../peer/peer-fault.ts'
import type { AwsClient } from '../kit/http/aws-client.ts'

/** The members in use of `@aws-sdk/client-sns` 3, so that the declarations do not need the package. */
export interface SnsModule {
  readonly SNSClient: new (options: Readonly<Record<string, unknown>>) => AwsClient
  readonly PublishCommand: new (input: Readonly<Record<string, unknown>>) => object
  readonly GetSMSAttributesCommand: new (input: Readonly<Record<string, unknown>>) => object
}

/** @throws NotifierError `missing_peer` */
export async function loadSns(): Promise<SnsModule> {
  try {
    const module: unknown = await import(/* turbopackOptional: true */ '@aws-sdk/client-sns')
    return module as SnsModule
  } catch (cause) {
    throw peerFault('@aws-sdk/client-sns', cause)
  }
}
