// Runs before every npm script on any Node version, so it uses only syntax of Node 18.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const needed = 24
const found = process.versions.node

if (Number.parseInt(found, 10) < needed) {
  const installed = existsSync(fileURLToPath(new URL('../node_modules/node/package.json', import.meta.url)))
  console.error(`
Carillon's own scripts need Node ${needed} or later; this is Node ${found}.
${installed ? missingBinary() : missingPackage()}
This does not concern your applications: the published package runs on Node 22.13 and later.
`)
  process.exit(1)
}

function missingPackage() {
  return `
Node ${needed} comes with the development dependencies. Install them, then start the script through npm:

  npm ci
`
}

function missingBinary() {
  return `
The development dependency "node" brings Node ${needed}, but its install script has not run, probably because
install scripts are switched off (ignore-scripts). Let this one run, then start the script through npm:

  npm rebuild node --ignore-scripts=false

or install again with scripts (npm ci --ignore-scripts=false), or put Node ${needed} on the PATH.
`
}
