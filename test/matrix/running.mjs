/**
 * @param {import('carillon').Notifier} notifier
 * @param {(notifier: import('carillon').Notifier) => Promise<void>} use
 */
export async function whileRunning(notifier, use) {
  await notifier.start()
  try {
    await use(notifier)
  } finally {
    await notifier.stop()
  }
}
