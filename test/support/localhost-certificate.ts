import { readFileSync } from 'node:fs'

const read = (name: string): string =>
  readFileSync(new URL(`../fixtures/localhost.${name}.pem`, import.meta.url), 'utf8')

/** Of `localhost`, signed by itself. */
export const certificate: string = read('cert')
export const key: string = read('key')
