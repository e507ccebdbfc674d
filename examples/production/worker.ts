// A process that only delivers: node worker.ts <options as JSON>
import { given, ready, stopOnTerm } from './child.ts'
import { type Addresses, productionNotifier } from './notifier.ts'

const notifier = productionNotifier(given<Addresses>())
notifier.on('error', (error) => console.error(error.message))
stopOnTerm(() => notifier.stop())
await notifier.start()
ready()
