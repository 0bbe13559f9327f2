/** Docs that can be checked are checked. `UPDATE_DOCS=1` writes the two tables of the README anew. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MESSAGE_ERRORS } from '../../src/inbound/message-errors.ts'
import { LOG_EVENTS } from '../../src/observe/log-events.ts'
import { Metrics } from '../../src/observe/metrics.ts'
import { metricsText } from '../../src/observe/metrics-text.ts'
import { CLOSE } from '../../src/protocol/close-reasons.ts'
import { SETTINGS } from '../../src/settings/settings.ts'
import { StorageMetrics } from '../../src/storage/storage-metrics.ts'
import { writeStorageMetrics } from '../../src/storage/storage-metrics-text.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

function settingsTable(): string {
  const rows = Object.values(SETTINGS).map((setting) => {
    const value = ('shown' in setting && setting.shown) || String(setting.default)
    return `| \`${setting.env}\` | ${value === '' ? '–' : value} | ${setting.help} |`
  })
  return ['| name | default | |', '|---|---|---|', ...rows].join('\n')
}

function metricsTable(): string {
  const text = metricsText(new Metrics(MESSAGE_ERRORS), 0, (page) => writeStorageMetrics(page, new StorageMetrics()))
  const rows = [...text.matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)\n(.*)/gm)].map(
    ([, name, help, kind, sample]) => {
      const labels = [...sample!.matchAll(/(\w+)="/g)].map(([, label]) => label).filter((label) => label !== 'le')
      return `| \`${name}${labels.length > 0 ? `{${labels.join(',')}}` : ''}\` | ${kind} | ${help} |`
    },
  )
  return ['| name | kind | |', '|---|---|---|', ...rows].join('\n')
}

function eventsTable(): string {
  const rows = Object.entries(LOG_EVENTS).map(([event, meaning]) => `| \`${event}\` | ${meaning} |`)
  return ['| event | |', '|---|---|', ...rows].join('\n')
}

for (const [file, name, table] of [
  ['README.md', 'settings', settingsTable()],
  ['README.md', 'metrics', metricsTable()],
  ['docs/operations.md', 'events', eventsTable()],
] as const) {
  test(`the table of ${name} in ${file} is what the source says`, () => {
    const text = read(file)
    const [open, close] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`]
    const [start, end] = [text.indexOf(open) + open.length, text.indexOf(close)]
    if (process.env.UPDATE_DOCS === '1') {
      writeFileSync(join(root, file), `${text.slice(0, start)}${table}\n${text.slice(end)}`)
    } else expect(text.slice(start, end).trim()).toBe(table)
  })
}

test('every log line names its event, and every event that is listed is told of somewhere', () => {
  const src = join(root, 'src')
  const told = new Set<string>()
  const silent: string[] = []
  for (const file of readdirSync(src, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue
    const text = readFileSync(join(src, file), 'utf8')
    for (const call of text.matchAll(/\b#?log\.(?:info|warn|error|fatal)\(\s*([^)]{0,80})/g)) {
      const event = /^\{\s*event: '(\w+)'/.exec(call[1]!)?.[1]
      if (event === undefined) silent.push(`${file}: ${call[0]}`)
      else told.add(event)
    }
  }
  expect(silent).toEqual([])
  expect([...told].sort()).toEqual(Object.keys(LOG_EVENTS).sort())
})

test('docs/protocol.md lists every close reason, and codes are in the ranges stock clients go by', () => {
  const protocol = read('docs/protocol.md')
  for (const { code, text, retry } of Object.values(CLOSE)) {
    expect(protocol).toContain(`| ${code} | ${text} | ${retry ? 'yes' : 'no'} |`)
    expect(code >= 4400 && code <= 4499).toBe(!retry)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(123)
  }
})

test('every promise that tests cite exists, and every promise but the cluster’s is cited', () => {
  const promised = new Set([...read('docs/promises.md').matchAll(/^- \*\*([A-Z]{2}\d+)\*\*/gm)].map(([, id]) => id!))
  const cited = new Set<string>()
  for (const entry of readdirSync(join(root, 'test'), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.ts')) continue
    const source = readFileSync(join(entry.parentPath, entry.name), 'utf8')
    for (const [, id] of source.matchAll(/\[([A-Z]{2}\d+)\]/g)) cited.add(id!)
  }
  expect([...cited].filter((id) => !promised.has(id))).toEqual([])
  expect([...promised].filter((id) => !cited.has(id) && !id.startsWith('CL'))).toEqual([])
})
