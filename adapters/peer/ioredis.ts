import { loadPeer } from './load-peer.ts'

/** What is used of the package; whoever uses it says what a client is. */
interface IoredisModule<Client> {
  readonly Redis: new (url: string, options: object) => Client
}

/**
 * Loads `ioredis`.
 *
 * @throws NotifierError `missing_peer` with the command that installs it
 */
export async function loadIoredis<Client>(): Promise<IoredisModule<Client>> {
  return (await loadPeer('ioredis', () => import('ioredis'))) as unknown as IoredisModule<Client>
}

/**
 * Settings of a connection that comes back when its server does.
 *
 * @param silenceMs after so much silence in spite of a question it is opened anew: of a server that went without a word (its
 *   power, the network) the system would tell after a quarter of an hour
 */
export function reconnecting(silenceMs: number): Readonly<Record<string, unknown>> {
  return {
    socketTimeout: silenceMs,
    retryStrategy: (times: number) => Math.min(50 * 2 ** times, 2_000),
    reconnectOnError: isReadOnly,
  }
}

/**
 * Tells the refusal of a server that is a replica: after a fail-over a connection may still lead to the primary of before.
 * Opened anew, through the same address, it leads to the one that took its place. Servers before Redis 7 put other words in
 * front where a script was refused.
 */
function isReadOnly({ message }: Error): boolean {
  return message.includes('READONLY')
}

/** ioredis puts the refused command on its error: that of a connection is the password, and loggers write all of an error. */
export function withoutCommand(error: unknown): unknown {
  if (error instanceof Error && 'command' in error) delete error.command
  return error
}
