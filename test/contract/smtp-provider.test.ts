import { test } from 'vitest'
import { providerContract } from '../../src/testing/provider-contract.ts'
import { SMTP_ROWS, smtpHarness } from '../support/smtp-harness.ts'

providerContract(test, smtpHarness, SMTP_ROWS)
