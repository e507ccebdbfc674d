import type { KnownBlock } from '@slack/web-api'
import { it } from 'vitest'
import type { Notifier, SendInput } from '../../src/index.ts'

interface Order {
  id: string
  total?: number
  lines: { name: string }[]
}

class Person {
  name = 'Ada'
}

declare const notifier: Notifier
const to = 'ada@example.com'

it('values may be typed by an interface, an alias or a class', () => {
  const order: Order = { id: '1', lines: [] }
  const record: Record<string, unknown> = {}
  for (const variables of [order, record, new Person(), {}]) {
    const message: SendInput = { to, template: 'shipped', variables, data: variables }
    void notifier.send(message)
    void notifier.templates.preview('shipped', variables)
  }
  void notifier.send({
    to,
    template: 'shipped',
    variables: { ...order, when: new Date(), at: { home: true } },
  })
})

it('what keeps its values elsewhere is none', () => {
  const later = async () => ({ id: '1' })
  // @ts-expect-error: a list has no names
  void notifier.send({ to, template: 'shipped', variables: ['Ada'] })
  // @ts-expect-error: nobody has waited for it
  void notifier.send({ to, template: 'shipped', variables: later() })
  // @ts-expect-error: its values are no fields
  void notifier.send({ to, template: 'shipped', variables: new Map([['name', 'Ada']]) })
  // @ts-expect-error: a text has no names
  void notifier.send({ to, template: 'shipped', data: 'Ada' })
  // @ts-expect-error: nobody has waited for it
  void notifier.templates.preview('shipped', later())
})

it("blocks may be typed by Slack's own package", () => {
  const blocks: KnownBlock[] = [{ type: 'divider' }]
  void notifier.send({ channel: 'slack', to: '#orders', body: 'Shipped', slack: { blocks } })
})
