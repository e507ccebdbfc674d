// Serves the service, prints its address, and ends with its input.
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { answer, stop } from './service.mjs'

const server = createServer(async (incoming, outgoing) => {
  const { method = 'GET', url, headers } = incoming
  const response = await answer(
    new Request(`http://localhost${url}`, {
      method,
      headers: /** @type {Record<string, string>} */ (headers),
      ...(method === 'GET' ? {} : { body: Readable.toWeb(incoming), duplex: 'half' }),
    }),
  )
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  outgoing.end(Buffer.from(await response.arrayBuffer()))
}).listen(0, '127.0.0.1', () => process.stdout.write(`${JSON.stringify(server.address())}\n`))

process.stdin.resume().once('end', async () => {
  await stop()
  server.close()
  server.closeAllConnections()
})
