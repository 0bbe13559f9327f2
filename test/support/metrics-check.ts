/**
 * Reads a page of Prometheus text and says what is wrong with it, beyond what `promtool check metrics` sees: a series that
 * stands there twice, a family without HELP or TYPE, a histogram whose buckets do not add up.
 */

export interface Sample {
  readonly name: string
  /** Label pairs, sorted by name. */
  readonly labels: readonly (readonly [string, string])[]
  readonly value: number
}

export interface MetricsPage {
  readonly samples: readonly Sample[]
  /** Names of the families, in the order in which they stand there. */
  readonly families: readonly string[]
  /** Every series as `name{labels}`. */
  readonly series: readonly string[]
  readonly mistakes: readonly string[]
}

type Kind = 'counter' | 'gauge' | 'histogram'

interface Family {
  readonly name: string
  help: number
  kind: Kind | null
  readonly samples: Sample[]
  /** Whether another family's lines have come since. */
  isOver: boolean
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/gy

export function readMetrics(text: string): MetricsPage {
  const mistakes: string[] = []
  const families = new Map<string, Family>()
  const series: string[] = []
  const samples: Sample[] = []
  let current: Family | null = null
  const enter = (name: string): Family => {
    if (current?.name === name) return current
    if (current !== null) current.isOver = true
    current = families.get(name) ?? { name, help: 0, kind: null, samples: [], isOver: false }
    if (current.isOver) mistakes.push(`${name} stands in two places`)
    families.set(name, current)
    return current
  }

  if (!text.endsWith('\n')) mistakes.push('the last line does not end')
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const [, comment, name, rest] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? []
    if (comment === 'HELP') {
      if (enter(name!).help++ > 0) mistakes.push(`${name} has two HELP lines`)
    } else if (comment === 'TYPE') {
      const family = enter(name!)
      if (family.kind !== null) mistakes.push(`${name} has two TYPE lines`)
      if (family.samples.length > 0) mistakes.push(`${name} has its TYPE after its samples`)
      if (rest !== 'counter' && rest !== 'gauge' && rest !== 'histogram') mistakes.push(`${name} is a ${rest}`)
      else family.kind = rest
    } else if (line.startsWith('#')) mistakes.push(`a comment that is neither HELP nor TYPE: ${line}`)
    else {
      const sample = readSample(line)
      if (sample === null) {
        mistakes.push(`no sample: ${line}`)
        continue
      }
      samples.push(sample)
      series.push(seriesOf(sample))
      enter(familyOf(sample.name, families)).samples.push(sample)
    }
  }

  for (const one of series.filter((name, i) => series.indexOf(name) !== i)) mistakes.push(`${one} stands there twice`)
  for (const family of families.values()) mistakes.push(...mistakesIn(family))
  return { samples, families: [...families.keys()], series, mistakes }
}

function readSample(line: string): Sample | null {
  const [, name, inner, number] = SAMPLE.exec(line) ?? []
  if (name === undefined || number === undefined) return null
  const labels: (readonly [string, string])[] = []
  let at = 0
  LABEL.lastIndex = 0
  for (let match = LABEL.exec(inner ?? ''); match !== null; match = LABEL.exec(inner ?? '')) {
    labels.push([match[1]!, match[2]!])
    at = LABEL.lastIndex
  }
  if (at !== (inner ?? '').length) return null
  const value = number === '+Inf' ? Number.POSITIVE_INFINITY : number === '-Inf' ? Number.NEGATIVE_INFINITY : +number
  return { name, labels: labels.sort(([a], [b]) => (a < b ? -1 : 1)), value }
}

const seriesOf = ({ name, labels }: Sample): string =>
  `${name}{${labels.map(([label, value]) => `${label}="${value}"`).join(',')}}`

/** A histogram's samples bear its name and an ending. */
function familyOf(name: string, families: ReadonlyMap<string, Family>): string {
  const base = name.replace(/_(bucket|sum|count)$/, '')
  return families.get(base)?.kind === 'histogram' ? base : name
}

function mistakesIn({ name, help, kind, samples }: Family): string[] {
  const mistakes: string[] = []
  if (help === 0) mistakes.push(`${name} has no HELP`)
  if (kind === null) mistakes.push(`${name} has no TYPE`)
  if (samples.length === 0) mistakes.push(`${name} has no samples`)
  if (kind === 'counter' && !name.endsWith('_total')) mistakes.push(`${name} is a counter without _total`)
  if (kind !== 'counter' && name.endsWith('_total')) mistakes.push(`${name} is no counter`)
  for (const { value, labels } of samples) {
    if (Number.isNaN(value)) mistakes.push(`${name} is not a number`)
    if (kind !== 'gauge' && value < 0) mistakes.push(`${name} is negative`)
    if (new Set(labels.map(([label]) => label)).size < labels.length) mistakes.push(`${name} has a label twice`)
  }
  if (kind === 'histogram') mistakes.push(...histogramMistakes(name, samples))
  return mistakes
}

function histogramMistakes(name: string, samples: readonly Sample[]): string[] {
  const mistakes: string[] = []
  const withoutLe = (sample: Sample): string =>
    seriesOf({ ...sample, name, labels: sample.labels.filter(([l]) => l !== 'le') })
  for (const key of new Set(samples.map(withoutLe))) {
    const own = samples.filter((sample) => withoutLe(sample) === key)
    const buckets = own
      .filter((sample) => sample.name === `${name}_bucket`)
      .map(({ labels, value }) => {
        const le = labels.find(([label]) => label === 'le')?.[1]
        return { le: le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), value }
      })
    const count = own.filter((sample) => sample.name === `${name}_count`)
    const sum = own.filter((sample) => sample.name === `${name}_sum`)
    if (count.length !== 1 || sum.length !== 1) mistakes.push(`${key} does not have one _count and one _sum`)
    if (buckets.length + 2 !== own.length) mistakes.push(`${key} has samples that are no part of a histogram`)
    const last = buckets.at(-1)
    if (last?.le !== Number.POSITIVE_INFINITY) mistakes.push(`${key} does not end with the bucket +Inf`)
    else if (last.value !== count[0]?.value) mistakes.push(`${key}: _count is not the bucket +Inf`)
    for (const [i, { le, value }] of buckets.entries()) {
      const before = buckets[i - 1]
      if (Number.isNaN(le)) mistakes.push(`${key} has a bucket without a bound`)
      if (before !== undefined && le <= before.le) mistakes.push(`${key}: bounds do not ascend`)
      if (before !== undefined && value < before.value) mistakes.push(`${key}: buckets are not cumulative`)
    }
  }
  return mistakes
}
