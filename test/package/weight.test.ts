import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Consumer, createConsumer } from './consumer.ts'

let consumer: Consumer
beforeAll(async () => {
  consumer = await createConsumer()
})
afterAll(() => consumer?.remove())

test('the package has less than 4.75 MB unpacked, and no source map', async () => {
  const folder = join(consumer.directory, 'node_modules/carillon')
  const files = await readdir(folder, { recursive: true })
  expect(files.filter((file) => file.endsWith('.map'))).toEqual([])
  const found = await Promise.all(files.map((file) => stat(join(folder, file))))
  // A folder has a size of its own, which no registry counts.
  const sizes = found.map((each) => (each.isFile() ? each.size : 0))
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(4_750_000)
})

test('a bundle of NotifierError alone has at most 15 KB', async () => {
  const { outputFiles } = await build({
    stdin: { contents: "export { NotifierError } from 'carillon'", resolveDir: consumer.directory },
    bundle: true,
    minify: true,
    write: false,
    platform: 'node',
    format: 'esm',
  })
  expect(outputFiles[0]?.contents.length).toBeLessThan(15_000)
})

test('the client has at most 5 KB in a page, and imports nothing', async () => {
  const { outputFiles, metafile } = await build({
    stdin: { contents: "export * from 'carillon/client'", resolveDir: consumer.directory },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    platform: 'browser',
    format: 'esm',
  })
  expect(Object.keys(metafile.inputs).filter((file) => !/(?:carillon\/dist\/|^<stdin>)/.test(file))).toEqual(
    [],
  )
  expect(gzipSync(outputFiles[0]?.contents ?? '').length).toBeLessThan(5_000)
})

test('an import loads the code that it needs, and no library for the sake of one function', async () => {
  const code = `
    import { readFileSync } from 'node:fs'
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({
      load(url, context, next) {
        loaded.push([url, url.startsWith('file:') ? readFileSync(new URL(url)).length : 0])
        return next(url, context)
      },
    })
    await import('carillon')
    console.log(JSON.stringify(loaded))`
  const loaded: [string, number][] = JSON.parse(await consumer.node('--input-type=module', '-e', code))
  const of = (name: string) =>
    loaded.map(([url]) => url).filter((url) => url.includes(`/node_modules/${name}/`))
  expect(of('libphonenumber-js')).toEqual([expect.stringMatching(/metadata\.min\.json\.js$/)])
  // As an ES module, it loads Node's own undici and takes another 40 ms.
  expect(loaded.map(([url]) => url)).not.toContain('node:http')
  expect(of('validator').length).toBeLessThan(10)
  expect(loaded.reduce((sum, [, size]) => sum + size, 0)).toBeLessThan(2_205_000)
})
