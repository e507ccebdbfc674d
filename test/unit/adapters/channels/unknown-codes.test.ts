import { describe, expect, it } from 'vitest'
import { judgeDiscord } from '../../../../adapters/channels/discord/errors.ts'
import { type Judge, judgeResult } from '../../../../adapters/channels/kit/http/provider-answer.ts'
import { judgePostmark } from '../../../../adapters/channels/postmark/errors.ts'
import { postmarkReceipts } from '../../../../adapters/channels/postmark/receipts.ts'
import { judgeResend } from '../../../../adapters/channels/resend/errors.ts'
import { judgeSes } from '../../../../adapters/channels/ses/errors.ts'
import { receiptsOf } from '../../../../adapters/channels/ses/events.ts'
import { judgeSlack } from '../../../../adapters/channels/slack/errors.ts'
import { judgeTelegram } from '../../../../adapters/channels/telegram/errors.ts'
import { judgeTwilio, twilioErrorCode } from '../../../../adapters/channels/twilio/errors.ts'
import { judgeVonage, vonageReceiptCode } from '../../../../adapters/channels/vonage/errors.ts'
import { judgeWhatsApp, whatsappErrorCode } from '../../../../adapters/channels/whatsapp/errors.ts'

const JUDGES: Readonly<
  Record<string, readonly [judge: Judge, status: number, body: (code: string) => object]>
> = {
  Postmark: [judgePostmark, 422, (ErrorCode) => ({ ErrorCode, Message: 'No.' })],
  Resend: [judgeResend, 422, (name) => ({ name, message: 'No.' })],
  'Amazon SES': [judgeSes, 400, (__type) => ({ __type, message: 'No.' })],
  Twilio: [judgeTwilio, 400, (code) => ({ code, message: 'No.' })],
  Vonage: [judgeVonage, 200, (status) => ({ messages: [{ status, 'error-text': 'No.' }] })],
  WhatsApp: [judgeWhatsApp, 400, (code) => ({ error: { code, message: 'No.' } })],
  Slack: [judgeSlack, 200, (error) => ({ ok: false, error })],
  Discord: [judgeDiscord, 400, (code) => ({ code, message: 'No.' })],
  Telegram: [judgeTelegram, 400, (error_code) => ({ ok: false, error_code, description: error_code })],
}

/** The last three are names of what every object of JavaScript has. */
describe.each(['brand_new', 'constructor', 'toString', 'hasOwnProperty'])(
  'a code that nobody knows: %s',
  (code) => {
    it.each(Object.entries(JUDGES))('is not retried, and kept, by %s', (_name, [judge, status, body]) => {
      const outcome = judgeResult(
        { kind: 'answered', status, headers: {}, body: JSON.stringify(body(code)), durationMs: 1 },
        judge,
      )
      expect(outcome).toMatchObject({ kind: 'rejected', code: 'provider_error', providerCode: code })
    })

    it('is a report that is logged, and no more', async () => {
      for (const meaning of [twilioErrorCode, vonageReceiptCode, whatsappErrorCode])
        expect(meaning(code)).toBe('provider_error')
      const parse = postmarkReceipts({ header: 'x-secret', secret: ['secret'] })
      const parsed = await parse({
        method: 'POST',
        url: 'https://example.org/',
        headers: { 'x-secret': 'secret' },
        body: new TextEncoder().encode(JSON.stringify({ RecordType: 'Bounce', MessageID: 'm', Type: code })),
        receivedAt: 0,
      })
      expect(parsed).toMatchObject({
        receipts: [{ fact: { type: 'reported', providerCode: `Bounce ${code}` }, suppress: undefined }],
      })
      const Message = JSON.stringify({ eventType: code, mail: { messageId: 'm' } })
      const [receipt] = receiptsOf({ MessageId: '1', Message } as Parameters<typeof receiptsOf>[0])
      expect(receipt?.fact).toMatchObject({ type: 'reported', providerCode: code })
    })
  },
)
