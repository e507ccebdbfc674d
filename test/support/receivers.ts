import { constants } from 'node:crypto'
import { createServer as createHttp, type ServerResponse } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { createServer as createTcp, type Socket } from 'node:net'
import {
  type ReceivedRequest,
  type Receiver,
  receive,
  startReceiver,
} from '../../src/testing/channel/receiver.ts'
import { certificate, key } from './localhost-certificate.ts'

export type { ReceivedRequest, Receiver }

type Respond = (response: ServerResponse, request: ReceivedRequest) => void

export function httpReceiver(respond: Respond): Promise<Receiver> {
  const requests: ReceivedRequest[] = []
  return startReceiver(createHttp(receive(requests, respond)), requests)
}

export function httpsReceiver(respond: Respond): Promise<Receiver> {
  const requests: ReceivedRequest[] = []
  return startReceiver(createHttps({ cert: certificate, key }, receive(requests, respond)), requests)
}

/** Ends every handshake that goes on where another one ended, as behind a store of sessions that is away. */
export function forgetfulReceiver(respond: Respond): Promise<Receiver> {
  const requests: ReceivedRequest[] = []
  const known = new Set<string>()
  const version = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const
  const secureOptions = constants.SSL_OP_NO_TICKET
  const server = createHttps(
    { cert: certificate, key, ...version, secureOptions },
    receive(requests, respond),
  )
  server.on('newSession', (id, _, done) => {
    known.add(id.toString('hex'))
    done()
  })
  server.on('resumeSession', (id, done) => {
    done(known.has(id.toString('hex')) ? new Error('The store is away.') : null, null)
  })
  return startReceiver(server, requests)
}

/** Answers with whatever bytes `talk` writes. */
export function tcpReceiver(talk: (socket: Socket) => void): Promise<Receiver> {
  return startReceiver(createTcp(talk), [])
}

/** A port that nothing listens on. */
export async function closedPort(): Promise<number> {
  const { port, close } = await tcpReceiver(() => {})
  await close()
  return port
}
