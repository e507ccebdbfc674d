import { peerFault } from './peer-fault.ts'

/** The members in use of the package. The caller defines `Client`. */
interface IoredisModule<Client> {
  readonly Redis: new (url: string, options: object) => Client
}

/**
 * Loads `ioredis`.
 *
 * @throws NotifierError `missing_peer` with the command that installs it
 */
export async function loadIoredis<Client>(): Promise<IoredisModule<Client>> {
  try {
    return (await import(/* turbopackOptional: true */ 'ioredis')) as unknown as IoredisModule<Client>
  } catch (cause) {
    throw peerFault('ioredis', cause)
  }
}

/**
 * Settings of a connection that reconnects by itself.
 *
 * @param silenceMs how long the server may leave a command unanswered before the connection is replaced. The system
 *   would take a quarter of an hour to report a server that lost power or its network
 */
export function reconnecting(silenceMs: number): Readonly<Record<string, unknown>> {
  return {
    socketTimeout: silenceMs,
    retryStrategy: (times: number) => Math.min(50 * 2 ** times, 2_000),
    reconnectOnError: isReadOnly,
  }
}

/**
 * Recognizes the refusal of a replica. After a failover a connection may still lead to the former primary; a new one
 * through the same address leads to its successor. Servers before Redis 7 prefix the message if a script was refused.
 */
function isReadOnly({ message }: Error): boolean {
  return message.includes('READONLY')
}

/**
 * Removes the refused command from an ioredis error. At connection time it holds the password, and loggers print every
 * property.
 */
export function withoutCommand(error: unknown): unknown {
  if (error instanceof Error && 'command' in error) delete error.command
  return error
}
