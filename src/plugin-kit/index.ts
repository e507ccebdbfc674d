export { definePlugin, type PluginDefinition } from './define-plugin.ts'
export {
  deny,
  go,
  type JudgedMessage,
  type PluginJudge,
  type PluginVerdict,
  skip,
  wait,
} from './judge.ts'
export type { Plugin, PluginApi, PluginApis, PluginCore, PluginError, PluginParts } from './plugin.ts'
export {
  type Concerned,
  type DuePluginRecord,
  type DuePluginResult,
  onDue,
  type PluginDueHandler,
  type PluginInsert,
  type PluginReads,
  type PluginRecord,
  type PluginRecords,
  type PluginStore,
  type PluginWrites,
} from './records.ts'
export { type PluginRequest, type PluginRoute, route } from './route.ts'
