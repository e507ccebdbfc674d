export {
  type ChannelHarness,
  type ChannelTraits,
  channelContract,
  type HttpAct,
  type OutcomeRow,
  type ProviderAct,
  type TakenMessage,
} from './channel-contract.ts'
export { type FakeClock, fakeClock } from './fake-clock.ts'
export {
  type QueueHarness,
  type QueueNotifier,
  type QueueNotifierOptions,
  type QueueProcess,
  queueContract,
} from './queue/queue-contract.ts'
export { type RateLimiterHarness, rateLimiterContract } from './rate-limiter/rate-limiter-contract.ts'
export {
  type Behaviour,
  type RecordingChannel,
  type RecordingChannelOptions,
  recordingChannel,
} from './recording-channel.ts'
export { recordingLogger } from './recording-logger.ts'
export {
  type SimulatedMessage,
  type SimulatorChannel,
  type SimulatorChannelOptions,
  simulatorChannel,
} from './simulator/simulator-channel.ts'
export type {
  CallerTransactions,
  SecondDoor,
  StorageHarness,
  StoredDeliveryRow,
  StoredDependents,
  StoredEventRow,
  StoredIdempotencyRow,
  StoredJobRow,
  StoredNotificationRow,
} from './storage/harness.ts'
export { storageContract } from './storage-contract.ts'
export type { TestApi, TestContext } from './test-api.ts'
