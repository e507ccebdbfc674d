import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Provider } from '../../core/ports/provider.ts'
import type { QueueHarness } from './harness.ts'
import { sleep } from './wait.ts'

/** Long enough to be killed while messages are under way. */
const SEND_MS = 200
/** Short enough for a test to wait until the jobs of a killed process are free. */
const LEASE_MS = 2_000

/**
 * The program of a {@link QueueHarness}: a process that delivers slowly until it is killed, and reports each message to
 * the process that started it.
 *
 * @example
 * await queueProgram({
 *   queue: () => tableQueue({ connectionString }),
 *   notifier: (options) => createNotifier({ storage: postgres({ connectionString }), ...options }),
 * })
 */
export async function queueProgram({
  queue,
  notifier,
}: Pick<QueueHarness, 'queue' | 'notifier'>): Promise<void> {
  const email: Provider = {
    name: 'slow',
    timeoutMs: LEASE_MS / 2,
    maxConcurrent: 4,
    async send(_message, { notificationId }) {
      tell({ handedOver: notificationId })
      await sleep(SEND_MS)
      return { kind: 'accepted', providerMessageId: notificationId }
    },
  }
  const options = {
    channels: { email },
    queue: queue() ?? undefined,
    delivery: { leaseMs: LEASE_MS },
    plans: {},
  }
  const started = notifier(options)
  started.on('error', () => {})
  await started.start({ deliver: true })
  tell({ started: true })
}

/** A line from the program to the contract. */
interface Told {
  readonly started?: true
  readonly handedOver?: string
}

function tell(what: Told): void {
  process.send?.(what)
}

export interface QueueProcess {
  /** The id of each hand-over so far. */
  handedOver(): readonly string[]
  /** Sends SIGKILL; resolves when the process has ended and all that it told has been read. */
  kill(): Promise<void>
}

/** Starts a program. Rejects if it ends before its notifier has started. */
export async function startProgram([file, ...args]: QueueHarness['program']): Promise<QueueProcess> {
  const child: ChildProcess = fork(file, args)
  const closed = once(child, 'close')
  const handed: string[] = []
  await new Promise<void>((resolve, reject) => {
    child.on('message', ({ started, handedOver }: Told) => {
      if (handedOver !== undefined) handed.push(handedOver)
      if (started) resolve()
    })
    child.once('error', reject)
    child.once('exit', (code) =>
      reject(
        new Error(`The program ${file} has ended with ${code} before it called queueProgram and started.`),
      ),
    )
  })
  return {
    handedOver: () => handed,
    async kill() {
      child.kill('SIGKILL')
      await closed
    },
  }
}
