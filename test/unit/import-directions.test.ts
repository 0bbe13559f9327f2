/**
 * The arrows of the picture: who may import whom. Type imports count, because readers follow them too. docs/architecture.md shows
 * the same folders, arrows and files.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

const src = join(import.meta.dirname, '../../src')

const MAY: Record<string, readonly string[]> = {
  observe: [],
  protocol: [],
  diff: [],
  cluster: ['observe'],
  storage: ['observe'],
  budget: ['observe'],
  access: ['protocol', 'observe'],
  update: ['protocol'],
  outbound: ['diff', 'protocol', 'budget', 'observe'],
  keeping: ['diff', 'update', 'storage', 'budget', 'observe'],
  room: ['outbound', 'keeping', 'diff', 'update', 'protocol', 'storage', 'cluster', 'budget', 'observe'],
  inbound: ['room', 'access', 'outbound', 'update', 'protocol', 'budget', 'observe'],
  http: ['observe'],
  uws: ['inbound', 'http', 'outbound', 'protocol', 'budget', 'observe'],
  settings: ['room', 'outbound', 'access', 'http', 'update'],
}
/** Puts everything together: sees all, and is seen by the entries at the top of src alone. */
const COMPOSES = 'server'
/** Of these folders other folders see the interfaces only. */
const INTERFACES: Record<string, readonly string[]> = {
  storage: ['storage/storage.ts', 'storage/storage-metrics.ts'],
  cluster: ['cluster/cluster.ts'],
}

const files = readdirSync(src, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => join(entry.parentPath, entry.name))

const importsOf = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/from '(.+?)'/g)].map(([, specifier]) => specifier!)

test('every folder has its place in the flow', () => {
  const folders = files
    .map((file) => relative(src, file).split('/'))
    .flatMap(([top, ...rest]) => (rest.length > 0 ? top! : []))
  expect([...new Set(folders)].sort()).toEqual([...Object.keys(MAY), COMPOSES].sort())
})

test('imports between folders follow the flow', () => {
  const against: string[] = []
  for (const file of files) {
    const from = relative(src, file)
    const folder = from.includes('/') ? from.split('/')[0]! : ''
    if (folder === '' || folder === COMPOSES) continue
    for (const specifier of importsOf(file)) {
      if (!specifier.startsWith('.')) continue
      const to = relative(src, resolve(dirname(file), specifier))
      const target = to.split('/')[0]!
      if (target === folder) continue
      const seesAll = INTERFACES[target]?.includes(to) ?? true
      const sees = folder === 'uws' && target === 'outbound' ? to === 'outbound/frame-sink.ts' : seesAll
      const allowed = MAY[folder]!.includes(target) && sees
      if (!allowed) against.push(`${from} → ${to}`)
    }
  }
  expect(against).toEqual([])
})

test('only src/uws imports uWebSockets.js, and nothing imports in a circle', () => {
  const users = files.filter((file) => importsOf(file).includes('uWebSockets.js')).map((file) => relative(src, file))
  expect(users.every((file) => file.startsWith('uws/'))).toBe(true)

  const graph = new Map(
    files.map((file) => [
      file,
      importsOf(file)
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => resolve(dirname(file), specifier)),
    ]),
  )
  const done = new Set<string>()
  const walk = (file: string, path: readonly string[]): void => {
    const at = path.indexOf(file)
    if (at >= 0) throw new Error(`circle: ${[...path.slice(at), file].map((one) => relative(src, one)).join(' → ')}`)
    if (done.has(file)) return
    for (const next of graph.get(file) ?? []) walk(next, [...path, file])
    done.add(file)
  }
  for (const file of files) walk(file, [])
})

const page = readFileSync(join(src, '../docs/architecture.md'), 'utf8')

test('docs/architecture.md has every folder, with its arrows', () => {
  const table = page.slice(page.indexOf('<!-- folders -->'), page.indexOf('<!-- /folders -->'))
  const rows = [...table.matchAll(/^\| `(\w+)` \| .+? \| (.*?) ?\|$/gm)].map(([, folder, arrows]) => [
    folder,
    arrows!.trim(),
  ])
  const arrows = Object.entries(MAY).map(([folder, to]) => [folder, to.map((name) => `\`${name}\``).join(' ')])
  expect(Object.fromEntries(rows)).toEqual({ ...Object.fromEntries(arrows), [COMPOSES]: 'everything' })
})

test('docs/architecture.md names no file that is not there', () => {
  const folders = [...Object.keys(MAY), COMPOSES].join('|')
  const named = [...page.matchAll(new RegExp(`\\b(?:${folders})/[a-z][\\w-]*`, 'g'))].map(([path]) => path)
  expect(named.length).toBeGreaterThan(40)
  const there = new Set(files.map((file) => relative(src, file).replace(/\.ts$/, '')))
  expect(named.filter((path) => !there.has(path))).toEqual([])
})

test('a name stands for one file, and the unit tests lie as the source does', () => {
  const names = files.map((file) => relative(src, file).split('/').at(-1)!)
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([])
  const tested = readdirSync(join(src, '../test/unit'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const folders = [...Object.keys(MAY), COMPOSES]
  expect(tested.map(({ name }) => name).filter((name) => !folders.includes(name))).toEqual([])
})

test('there is no drawer for leftovers', () => {
  expect(files.filter((file) => /(^|\/)(types|utils?|helpers?)(\.ts|\/)/.test(relative(src, file)))).toEqual([])
})
