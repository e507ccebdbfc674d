export { type HttpProviderHarnessOptions, httpProviderHarness } from './channel/http-harness.ts'
export {
  type ProviderReply,
  type ProviderRow,
  type ProviderServer,
  type ProviderServerOptions,
  providerServer,
} from './channel/provider-server.ts'
export type { ReceivedRequest } from './channel/receiver.ts'
export {
  expectTemplates,
  type LintableTemplates,
  type NotifierWithTemplates,
  type TemplateExpectations,
  type TemplateParts,
} from './expect-templates.ts'
export { type FakeClock, fakeClock } from './fake-clock.ts'
export {
  type HttpAct,
  type OutcomeRow,
  type ProviderAct,
  type ProviderHarness,
  type ProviderTraits,
  providerContract,
  type TakenMail,
  type TakenMessage,
} from './provider-contract.ts'
export {
  type QueueHarness,
  type QueueNotifier,
  type QueueNotifierOptions,
  queueContract,
  queueProgram,
} from './queue/queue-contract.ts'
export { type RateLimiterHarness, rateLimiterContract } from './rate-limiter/rate-limiter-contract.ts'
export { recordingLogger } from './recording-logger.ts'
export {
  type Behaviour,
  type RecordingProvider,
  type RecordingProviderOptions,
  recordingProvider,
} from './recording-provider.ts'
export {
  type SimulatedMessage,
  type SimulatorProvider,
  type SimulatorProviderOptions,
  simulatorProvider,
} from './simulator/simulator-provider.ts'
export type {
  CallerTransactions,
  JoinedCall,
  OpenTransaction,
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
