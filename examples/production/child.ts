/** What a process is started with: the JSON in its last argument. */
export function given<Options>(): Options {
  return JSON.parse(process.argv[2] ?? '{}')
}

/** Tells the parent that it works. A process whose parent has gone ends, too: nothing is left behind. */
export function ready(): void {
  process.once('disconnect', () => process.exit(1))
  process.send?.('ready')
}

/** Ends the process on SIGTERM, after `stop`; a Ctrl-C is the parent's to hear. */
export function stopOnTerm(stop: () => Promise<void>): void {
  process.on('SIGINT', () => {})
  process.once('SIGTERM', () => void stop().then(() => process.exit(0)))
}
