import { failureOfPlugin } from '../core/observe/plugin-calls.ts'

/** Its exceptions become `service_unavailable`, with the exception as the cause. */
export async function guarded(plugin: string, work: () => unknown): Promise<unknown> {
  try {
    return await work()
  } catch (error) {
    throw failureOfPlugin(`plug-in "${plugin}"`, error)
  }
}
