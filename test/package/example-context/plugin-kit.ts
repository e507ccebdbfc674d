// What examples of the plug-in kit use without declaring it.
import type { NotifierError } from 'carillon'
import type { PluginRecords } from 'carillon/plugin-kit'

export declare function error(code: string): NotifierError
export declare const reminders: PluginRecords<{ readonly phone: string; readonly at: number }>
export declare const api: {
  add(organizationId: string, notificationId: string, emoji: string): Promise<{ readonly id: string }>
}
