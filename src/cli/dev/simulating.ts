import type { ChannelKind } from '../../core/channels/channel-kind.ts'
import type { Provider } from '../../core/ports/provider.ts'
import type { ReceiptRequest } from '../../core/ports/receipts.ts'

/** How long the simulated service takes to report what became of a message. */
const REPORT_MS = 500

/**
 * Lets the recipients of the simulator fail and report as they are named. The given provider gets all other messages, and
 * those that the simulator accepts.
 *
 * @param publicUrl where it reports to
 */
export async function simulating(
  publicUrl: string,
): Promise<(provider: Provider<ChannelKind>, kind: ChannelKind) => Provider<ChannelKind>> {
  const [{ simulatorProvider }, { SIMULATED_CHANNELS, simulatedName }] = await Promise.all([
    import('../../testing/simulator/simulator-provider.ts'),
    import('../../testing/simulator/recipients.ts'),
  ])
  return (provider, kind) => {
    const channel = SIMULATED_CHANNELS.find((name) => name === kind.name)
    if (channel === undefined) return provider
    const { name } = provider
    const simulator = simulatorProvider({ channel, name, publicUrl })
    return {
      name,
      kind,
      async send(message, context) {
        if (simulatedName(channel, message.to) === null) return provider.send(message, context)
        const outcome = await simulator.send(message, context)
        if (outcome.kind === 'accepted') await provider.send(message, context)
        for (const receipt of simulator.receipts()) setTimeout(() => report(receipt), REPORT_MS).unref()
        return outcome
      },
      parseReceipts: simulator.parseReceipts,
    }
  }
}

function report({ url, method, headers, body }: ReceiptRequest): void {
  const init = { method, headers: headers as Record<string, string>, body: Buffer.from(body) }
  // The service may have stopped meanwhile.
  fetch(url, init).catch(() => {})
}
