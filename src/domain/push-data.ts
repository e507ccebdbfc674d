/** Keys that FCM refuses, or takes for its own. */
const OF_FCM = /^(?:from|message_type|(?:google|gcm)(?:\..*)?)$/

/** Whose the key of a push message's data is; null: nobody's, it may be used. */
export function ownerOfDataKey(key: string): 'APNs' | 'FCM' | null {
  if (key === 'aps') return 'APNs'
  return OF_FCM.test(key) ? 'FCM' : null
}
