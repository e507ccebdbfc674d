import { DatabaseSync } from 'node:sqlite'

/** Locks a database file until it is killed. */
const { file, statement } = JSON.parse(process.argv[2] ?? '') as {
  readonly file: string
  readonly statement: string
}
const database = new DatabaseSync(file)
database.exec(statement)
process.stdout.write('locked\n')
setInterval(() => database.isOpen, 60_000)
