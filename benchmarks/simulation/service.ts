import type { Costs } from './costs.ts'
import { createAgenda } from './events.ts'
import { createCommits, createStation } from './stations.ts'

/** Number of each part. */
export interface Size {
  readonly apiProcesses: number
  readonly workerProcesses: number
  readonly postgresCores: number
}

/** Results of a service of one size. */
export interface Day {
  /** Utilization of each part, 0 to 1. */
  readonly used: Readonly<Record<keyof Size | 'redis' | 'disk' | 'slots', number>>
  /** Milliseconds from a request to its answer, and to the provider's answer. */
  readonly acceptP99: number
  readonly deliverP99: number
  /** Notifications accepted and not handed over at the end. */
  readonly left: number
}

/** Wake-up of another process and a claim's turn: at most one NOTIFY per 25 ms. */
const WAKE_MS = 15
const MICROS = 1_000

/** Sends arrive at random, `perSecond` for `seconds`. */
export function simulate(
  costs: Costs,
  size: Size,
  perSecond: number,
  seconds: number,
  random: () => number,
): Day {
  const agenda = createAgenda()
  const api = createStation(agenda, size.apiProcesses)
  const worker = createStation(agenda, size.workerProcesses)
  const postgres = createStation(agenda, size.postgresCores)
  const redis = createStation(agenda, 1)
  const slots = createStation(agenda, size.workerProcesses * costs.concurrent)
  const disk = createCommits(agenda, costs.commitMs)
  const accepts: number[] = []
  const deliveries: number[] = []
  let accepted = 0

  function deliver(arrived: number): void {
    const half = costs.postgresDelivery / 2 / MICROS
    const settle = (): void => postgres.pass(half, () => disk.pass(() => {}))
    const answered = (): void => {
      deliveries.push(agenda.now() - arrived)
      settle()
    }
    const send = (): void =>
      worker.pass((costs.worker + costs.provider) / MICROS, () => slots.pass(costs.providerMs, answered))
    postgres.pass(half, () => disk.pass(send))
  }

  function arrive(): void {
    const arrived = agenda.now()
    redis.pass(costs.redis / MICROS, () =>
      api.pass(costs.api / MICROS, () =>
        postgres.pass(costs.postgresAccept / MICROS, () =>
          disk.pass(() => {
            accepted += 1
            accepts.push(agenda.now() - arrived)
            agenda.at(agenda.now() + WAKE_MS, () => deliver(arrived))
          }),
        ),
      ),
    )
    agenda.at(arrived - (Math.log(1 - random()) * 1_000) / perSecond, arrive)
  }

  agenda.at(0, arrive)
  agenda.runUntil(seconds * 1_000)
  return {
    used: {
      apiProcesses: api.used(),
      workerProcesses: worker.used(),
      postgresCores: postgres.used(),
      redis: redis.used(),
      disk: disk.used(),
      slots: slots.used(),
    },
    acceptP99: quantile(accepts, 0.99),
    deliverP99: quantile(deliveries, 0.99),
    left: accepted - deliveries.length,
  }
}

function quantile(values: number[], part: number): number {
  values.sort((left, right) => left - right)
  return values[Math.floor(part * (values.length - 1))] ?? Number.NaN
}
