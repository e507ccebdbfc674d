import { createHash } from 'node:crypto'

/** RFC 8030 5.4: at most 32 characters of base64url. */
const TOPIC = /^[\w-]{1,32}$/

/** The topic for a key of Web Push: the key itself if it is one, otherwise its hash. */
export function topicOf(key: string): string {
  return TOPIC.test(key) ? key : hashedTopic(key)
}

export function hashedTopic(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('base64url').slice(0, 32)
}
