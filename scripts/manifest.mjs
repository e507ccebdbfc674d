// npm runs this around packing: "publish" writes the published package.json, "restore" brings back that of the repository.
import { copyFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const file = fileURLToPath(new URL('../package.json', import.meta.url))
const folder = fileURLToPath(new URL('../node_modules/.cache', import.meta.url))
const kept = `${folder}/carillon-package.json`

if (process.argv[2] === 'restore') {
  renameSync(kept, file)
} else {
  mkdirSync(folder, { recursive: true })
  copyFileSync(file, kept)
  // The files of the scripts are not published.
  const { scripts: _, ...manifest } = JSON.parse(readFileSync(file, 'utf8'))
  const text = JSON.stringify(
    { ...manifest, ...repository(), typesVersions: typesVersions(manifest) },
    null,
    2,
  )
  writeFileSync(file, `${text}\n`)
}

/** Provenance names the repository that built the package, and npm refuses it if package.json names another or none. */
function repository() {
  const { GITHUB_REPOSITORY: name } = process.env
  return name === undefined ? {} : { repository: { type: 'git', url: `git+https://github.com/${name}.git` } }
}

/**
 * The types of `exports` for `moduleResolution: node10`, which reads no `exports`. It is the default of TypeScript 5 with
 * `module: commonjs`.
 *
 * @param {{ exports: Record<string, string | { types: string }> }} manifest
 */
function typesVersions({ exports }) {
  const paths = Object.entries(exports).flatMap(([subpath, target]) =>
    typeof target === 'string' || subpath === '.' ? [] : [[subpath.slice(2), [target.types]]],
  )
  return { '*': Object.fromEntries(paths) }
}
