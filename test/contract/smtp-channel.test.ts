import { test } from 'vitest'
import { channelContract } from '../../src/testing/channel-contract.ts'
import { SMTP_ROWS, smtpHarness } from '../integration/support/smtp-harness.ts'

channelContract(test, smtpHarness, SMTP_ROWS)
