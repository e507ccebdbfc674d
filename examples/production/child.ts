/** A process's options: the JSON in its last argument. */
export function given<Options>(): Options {
  return JSON.parse(process.argv[2] ?? '{}')
}

/** Tells the parent that the process is ready. If the parent dies, the process ends too. */
export function ready(): void {
  process.once('disconnect', () => process.exit(1))
  process.send?.('ready')
}

/** Ends the process on SIGTERM, after `stop`. Ctrl-C is left to the parent. */
export function stopOnTerm(stop: () => Promise<void>): void {
  process.on('SIGINT', () => {})
  process.once('SIGTERM', () => void stop().then(() => process.exit(0)))
}
