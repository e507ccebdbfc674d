/*
 * Patterns for the text of a reply whose codes are not specific. They blame the recipient only in clear cases, because a
 * recipient that is suppressed by mistake gets no more mails.
 */

export const GREYLIST: RegExp = /gr[ea]y-?\s?list|postgrey/i
export const THROTTLE: RegExp =
  /throttl|rate.?limit|too (?:many(?! hops)|fast|much)|(?:sending|hourly|daily|submission)(?: \w+){0,2} (?:limit|quota|rate)/i
export const SPAM: RegExp = /spam|blocked|black-?list|block-?list|reputation|\brbl\b|dnsbl/i
/** Not as a part of a host name. */
export const RELAY: RegExp = /(?<![.\w-])relay(?:ing)?\b(?![.-]\w)|rcpthosts/i
export const LOGIN: RegExp =
  /credentials|authentication (?:is )?required|not (?:been )?authenticated|(?:must|please|need to) (?:first )?(?:authenticate|log ?in)/i
export const QUOTA: RegExp = /quota|mailbox (?:is )?full|over ?limit|storage/i
/** Only with x.4.5, which also reports a full mail system. */
export const SENDING_QUOTA: RegExp = /quota|limit/i
export const TOO_LARGE: RegExp = /too (?:large|big)|size|exceeds/i

const SENDER =
  /\bsender\b|\bspf\b|\bdkim\b|\bdmarc\b|return.?path|badmailfrom|envelope from|from (?:address|header)|reverse dns|\brdns\b|\bptr\b|\b(?:helo|ehlo)\b/i
/** One recipient's opinion of the sender does not extend to others. */
const TO_RECIPIENT = /\brecipient|\bto (?:this|the|that)\b/i

export const POLICY: RegExp =
  /polic(?:y|ies)|access denied|prohibit|not permitted|banned|\byour (?:\w+ )?(?:account|ip|host|address|server|domain)\b/i
const NO_MAILBOX =
  /\b(?:no|not an?|unknown|invalid|bad|non-?existent|unroute?able|undeliverable|disabled|inactive) (?:(?:such|local|mail|e-?mail|or|illegal|destination|known|valid|active) ){0,2}(?:user|recipient|mailbox|address|account|alias|person|customer)/i
const MAILBOX_GONE =
  /(?<!\b(?:ip|client|source|host|remote) )\b(?:user|recipient|mailbox|address|account|alias|person|customer)\b[^.;]{0,40}\b(?:unknown|unavailable|not (?:be )?(?:found|known|valid|available|local)|not a valid|invalid|disabled|inactive|deactivated|suspended|closed|terminated|discontinued|no longer|does(?: not|n't) have)\b/i
const NOT_THERE = /\bdo(?:es)?(?: not|n't) exist|\baddress rejected|mailbox name not allowed/i

export function blamesSender(words: string): boolean {
  return SENDER.test(words) && !TO_RECIPIENT.test(words)
}

/** True: the text says that the mailbox does not exist, or no longer. */
export function deniesMailbox(words: string): boolean {
  return NO_MAILBOX.test(words) || MAILBOX_GONE.test(words) || NOT_THERE.test(words)
}
