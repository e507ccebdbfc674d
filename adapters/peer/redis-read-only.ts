/**
 * Tells the refusal of a server that is a replica: after a fail-over a connection may still lead to the primary of before.
 * Opened anew, through the same address, it leads to the one that took its place. Servers before Redis 7 put other words in
 * front where a script was refused.
 */
export function isReadOnly({ message }: Error): boolean {
  return message.includes('READONLY')
}
