// Bundles dashboard/ into one module of the package: node scripts/build-dashboard.mjs
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { build } from 'esbuild'
import { fromRoot } from './entries.mjs'

const TARGET = fromRoot('src/dashboard/generated/assets.ts')
/** @type {Record<string, string>} */
const TYPES = { '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8' }

/** Writes the module, unless it is the same already. */
export async function buildDashboard() {
  const { outputFiles, metafile } = await build({
    entryPoints: { app: fromRoot('dashboard/main.tsx') },
    outdir: fromRoot('dist/assets'),
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    legalComments: 'none',
    logLevel: 'warning',
  })
  const files = outputFiles
    .map(({ path, contents }) => ({ name: nameOf(path), contents }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  const entry = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint !== undefined)
  const script = nameOf(entry?.[0] ?? '')
  const style = nameOf(entry?.[1].cssBundle ?? '')
  const rows = files.map(
    ({ name, contents }) =>
      `  '${name}': {\n    type: '${TYPES[extname(name)]}',\n    brotli: '${compressed(contents)}',\n  },\n`,
  )
  const source = `// Made by scripts/build-dashboard.mjs.
export const ENTRY: { readonly script: string; readonly style: string } = { script: '${script}', style: '${style}' }

export const ASSETS: Readonly<Record<string, { readonly type: string; readonly brotli: string }>> = {
${rows.join('')}}
`
  if (readIfThere(TARGET) === source) return
  mkdirSync(join(TARGET, '..'), { recursive: true })
  writeFileSync(TARGET, source)
}

/** @param {string} path */
function nameOf(path) {
  return path.split(/[\\/]/).pop() ?? path
}

/** @param {Uint8Array} contents */
function compressed(contents) {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_SIZE_HINT]: contents.length,
  }
  return brotliCompressSync(contents, { params }).toString('base64')
}

/** @param {string} path */
function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

if (process.argv[1] === fromRoot('scripts/build-dashboard.mjs')) await buildDashboard()
