import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('../', import.meta.url)

/**
 * Reads the published entry points from `exports` in package.json, their only list. `dist/adapters/**` is built from
 * `adapters/**`, everything else in `dist/` from `src/`.
 *
 * @returns {{ specifier: string, name: string, source: string }[]} import specifier, path in `dist` without extension,
 *   and source file
 */
export function entries() {
  /** @type {{ name: string, exports: Record<string, string | { types?: string, default?: string }> }} */
  const manifest = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
  return Object.entries(manifest.exports)
    .filter(([, target]) => typeof target === 'object')
    .map(([subpath, target]) => {
      const { types, default: file } = /** @type {{ types?: string, default?: string }} */ (target)
      const name = /^\.\/dist\/(.+)\.js$/.exec(file ?? '')?.[1]
      if (name === undefined || types !== `./dist/${name}.d.ts`) {
        throw new Error(`exports["${subpath}"] needs "types" and "default" that name one file in ./dist`)
      }
      return {
        specifier: `${manifest.name}${subpath.slice(1)}`,
        name,
        source: `${name.startsWith('adapters/') ? '' : 'src/'}${name}.ts`,
      }
    })
}

/** @param {string} path relative to the repository */
export function fromRoot(path) {
  return fileURLToPath(new URL(path, root))
}
