import { expect, it } from 'vitest'
import { AUDIT_ACTIONS } from '../../../../src/core/audit/actions.ts'
import { ROUTES } from '../../../../src/routes.ts'

/** Operations other than reads without an entry in the audit log. */
const EXEMPT: Readonly<Record<string, string>> = {
  sendNotification: 'the delivery log has it',
  sendBatch: 'the delivery log has it',
  explainMessage: 'changes nothing',
  cancelNotification: "the message's timeline has it",
  rescheduleNotification: "the message's timeline has it",
  resendNotification: 'the delivery log has it',
  retryNotification: "the message's timeline has it",
  retryDeadLetters: 'the timelines of the messages have it',
  uploadAttachment: 'content of a message to come, removed after a day',
  deleteAttachment: 'content of a message to come, removed after a day',
  previewTemplate: 'changes nothing',
  previewTemplateDraft: 'changes nothing',
  lintTemplate: 'changes nothing',
  lintTemplateDraft: 'changes nothing',
  testWebhook: 'changes nothing',
  redeliverWebhookDelivery: 'the log of deliveries has it',
  redeliverWebhook: 'the log of deliveries has it',
  postReceipt: 'a provider reports',
  postOrganizationReceipt: 'a provider reports',
  unsubscribe: 'a person chooses',
  savePreferencePage: 'a person chooses',
}

it('every operation that changes something makes an entry in the audit log, or says why not', () => {
  const changing = ROUTES.filter(({ method }) => method !== 'GET')
  const unrecorded = changing.filter(({ audited }) => audited === undefined)
  expect(unrecorded.map(({ operation }) => operation).sort()).toEqual(Object.keys(EXEMPT).sort())
})

it('every action belongs to an operation, or to code alone', () => {
  const actions = new Set(ROUTES.flatMap(({ audited = [] }) => audited))
  expect(AUDIT_ACTIONS.filter((action) => !actions.has(action))).toEqual([
    'operator_key.created',
    'operator_key.rotated',
    'operator_key.deleted',
  ])
})
