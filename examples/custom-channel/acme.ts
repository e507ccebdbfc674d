// Stands for the pager service: it takes pages, and reports each as delivered.
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

/** @param reports where the service reports to, signed with the key */
export function acmeService(key: string, reports: string) {
  let count = 0
  return createServer(async (req, res) => {
    const { to, body, beeps } = JSON.parse(await text(req))
    console.log(`${to}: ${'beep '.repeat(beeps)}${body}`)
    const page = `page-${++count}`
    res.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify({ id: page }))
    const report = JSON.stringify({ id: `report-${count}`, page })
    const signature = createHmac('sha256', key).update(report).digest('hex')
    await fetch(reports, { method: 'POST', headers: { 'acme-signature': signature }, body: report })
  })
}
