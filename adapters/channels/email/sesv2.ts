import { loadPeer } from '../peer.ts'

/** The part of @aws-sdk/client-sesv2 that is used; typed here so that no declaration of ours needs the package. */
export interface SesModule {
  readonly SESv2Client: new (options: Readonly<Record<string, unknown>>) => SesClient
  readonly SendEmailCommand: new (input: Readonly<Record<string, unknown>>) => SesCommand
}

export interface SesClient {
  send(
    command: SesCommand,
    options: { readonly abortSignal: AbortSignal },
  ): Promise<Readonly<Record<string, unknown>>>
  destroy(): void
}

export type SesCommand = object

/** What the SDK hands to whoever carries its requests. */
export interface SdkRequest {
  readonly method: string
  readonly protocol: string
  readonly hostname: string
  readonly port?: number | undefined
  readonly path: string
  readonly query?: Readonly<Record<string, string | readonly string[] | null>> | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** @throws NotifierError `missing_peer` */
export async function loadSes(): Promise<SesModule> {
  const module: unknown = await loadPeer('@aws-sdk/client-sesv2', () => import('@aws-sdk/client-sesv2'))
  return module as SesModule
}
