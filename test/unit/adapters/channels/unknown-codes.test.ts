import { describe, expect, it } from 'vitest'
import { discordOutcome } from '../../../../adapters/channels/discord/errors.ts'
import { outcomeOfResult, type ReadOutcome } from '../../../../adapters/channels/kit/http/provider-answer.ts'
import { postmarkOutcome } from '../../../../adapters/channels/postmark/errors.ts'
import { postmarkReceipts } from '../../../../adapters/channels/postmark/receipts.ts'
import { resendOutcome } from '../../../../adapters/channels/resend/errors.ts'
import { sesOutcome } from '../../../../adapters/channels/ses/errors.ts'
import { receiptsOf } from '../../../../adapters/channels/ses/events.ts'
import { slackOutcome } from '../../../../adapters/channels/slack/errors.ts'
import { telegramOutcome } from '../../../../adapters/channels/telegram/errors.ts'
import { twilioErrorCode, twilioOutcome } from '../../../../adapters/channels/twilio/errors.ts'
import { vonageOutcome, vonageReceiptCode } from '../../../../adapters/channels/vonage/errors.ts'
import { whatsAppOutcome, whatsappErrorCode } from '../../../../adapters/channels/whatsapp/errors.ts'

const JUDGES: Readonly<
  Record<string, readonly [judge: ReadOutcome, status: number, body: (code: string) => object]>
> = {
  Postmark: [postmarkOutcome, 422, (ErrorCode) => ({ ErrorCode, Message: 'No.' })],
  Resend: [resendOutcome, 422, (name) => ({ name, message: 'No.' })],
  'Amazon SES': [sesOutcome, 400, (__type) => ({ __type, message: 'No.' })],
  Twilio: [twilioOutcome, 400, (code) => ({ code, message: 'No.' })],
  Vonage: [vonageOutcome, 200, (status) => ({ messages: [{ status, 'error-text': 'No.' }] })],
  WhatsApp: [whatsAppOutcome, 400, (code) => ({ error: { code, message: 'No.' } })],
  Slack: [slackOutcome, 200, (error) => ({ ok: false, error })],
  Discord: [discordOutcome, 400, (code) => ({ code, message: 'No.' })],
  Telegram: [telegramOutcome, 400, (error_code) => ({ ok: false, error_code, description: error_code })],
}

/** The last three are names of what every object of JavaScript has. */
describe.each(['brand_new', 'constructor', 'toString', 'hasOwnProperty'])(
  'a code that nobody knows: %s',
  (code) => {
    it.each(Object.entries(JUDGES))('is not retried, and kept, by %s', (_name, [judge, status, body]) => {
      const outcome = outcomeOfResult(
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
