import type { Queue, RateLimiter, Storage } from 'carillon'
import type { ProviderHarness, SecondDoor } from 'carillon/testing'

export declare function acmeHarness(): Promise<ProviderHarness>
export declare function acmeStorage(options: { url: string; clock: { now(): number } }): Storage
export declare function createDatabase(): Promise<{
  url: string
  secondDoor: SecondDoor
  remove(): Promise<void>
}>
export declare function fileLimiter(options: { file: string; now(): number }): RateLimiter
export declare function query(statement: string): Promise<void>
export declare function tableQueue(options: { connectionString: string }): Queue
