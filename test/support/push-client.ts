import { createDecipheriv, createECDH, createHmac, hkdfSync, randomBytes } from 'node:crypto'

/** A browser's side of a push subscription: it keeps the private key, and reads what arrives. */
export interface PushClient {
  /** The subscription as a recipient: compact JSON. */
  subscription(endpoint: string): string
  /** Decrypts by RFC 8291. Throws over what a browser would drop. */
  read(body: Uint8Array): string
}

/** @param keys a private key and an authentication secret, base64url; new ones when left out */
export function pushClient(keys?: { readonly privateKey: string; readonly auth: string }): PushClient {
  const curve = createECDH('prime256v1')
  if (keys === undefined) curve.generateKeys()
  else curve.setPrivateKey(keys.privateKey, 'base64url')
  const auth = keys === undefined ? randomBytes(16) : Buffer.from(keys.auth, 'base64url')
  const publicKey = curve.getPublicKey()
  return {
    subscription: (endpoint) =>
      JSON.stringify({
        endpoint,
        expirationTime: null,
        keys: { p256dh: publicKey.toString('base64url'), auth: auth.toString('base64url') },
      }),
    read(body) {
      const { salt, senderKey, records } = splitHeader(Buffer.from(body))
      const secret = curve.computeSecret(senderKey)
      const combined = createHmac('sha256', auth).update(secret).digest()
      const info = Buffer.concat([Buffer.from('WebPush: info\0'), publicKey, senderKey, Buffer.from([1])])
      const material = createHmac('sha256', combined).update(info).digest()
      return decryptRecord(records, material, salt)
    },
  }
}

/** RFC 8188 2.1: salt, record size, length of the key's id, and the id, which is the sender's public key. */
function splitHeader(body: Buffer) {
  const recordSize = body.readUInt32BE(16)
  const idLength = body.readUInt8(20)
  const records = body.subarray(21 + idLength)
  // RFC 8291 4: one record holds it all.
  if (records.length > recordSize) throw new Error('There is more than one record.')
  return { salt: body.subarray(0, 16), senderKey: body.subarray(21, 21 + idLength), records }
}

function decryptRecord(record: Buffer, material: Buffer, salt: Buffer): string {
  const derive = (label: string, size: number) =>
    Buffer.from(hkdfSync('sha256', material, salt, Buffer.from(`Content-Encoding: ${label}\0`), size))
  const decipher = createDecipheriv('aes-128-gcm', derive('aes128gcm', 16), derive('nonce', 12))
  decipher.setAuthTag(record.subarray(-16))
  const padded = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()])
  const end = padded.lastIndexOf(2)
  if (end === -1 || padded.subarray(end + 1).some((byte) => byte !== 0))
    throw new Error('The padding is wrong.')
  return padded.subarray(0, end).toString('utf8')
}
