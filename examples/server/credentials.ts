import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Secrets that Carillon shows once: it stores hashes of the keys, and the signing secret encrypted. Callers and
 * receivers must store theirs. This example is both, and stores them in a file that only its owner can read.
 */
export interface Credentials {
  readonly apiKey?: string
  readonly operatorKey?: string
  readonly webhook?: { readonly url: string; readonly secret: string }
}

export interface CredentialsFile {
  readonly path: string
  read(): Promise<Credentials>
  write(credentials: Credentials): Promise<void>
}

export function credentialsFile(dataDir: string): CredentialsFile {
  const path = join(dataDir, 'credentials.json')
  return {
    path,
    async read() {
      try {
        return JSON.parse(await readFile(path, 'utf8'))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return {}
        throw error
      }
    },
    async write(credentials) {
      const draft = `${path}.${process.pid}`
      await writeFile(draft, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 })
      await rename(draft, path)
    },
  }
}
