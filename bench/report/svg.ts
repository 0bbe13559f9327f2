/** Line charts on logarithmic axes, as SVG text that reads on a light and on a dark page. */
export interface Series {
  readonly name: string
  readonly points: readonly (readonly [x: number, y: number])[]
}

export interface Chart {
  readonly title: string
  readonly x: string
  readonly y: string
  readonly series: readonly Series[]
  /** A horizontal line with a name. */
  readonly limit?: { readonly at: number; readonly name: string }
}

const WIDTH = 720
const HEIGHT = 420
const LEFT = 70
const RIGHT = 170
const TOP = 50
const BOTTOM = 55
const COLORS = ['#0072b2', '#d55e00', '#cc79a7', '#009e73', '#e69f00']

export function chart({ title, x, y, series, limit }: Chart): string {
  const points = series.flatMap((line) => line.points).filter(([px, py]) => px > 0 && py > 0)
  if (points.length === 0) return ''
  const xs = points.map(([px]) => px)
  const ys = points.map(([, py]) => py).concat(limit === undefined ? [] : [limit.at])
  const acrossFrom = Math.min(...xs)
  const acrossTo = Math.max(...xs, acrossFrom * 2)
  const upFrom = 10 ** Math.floor(Math.log10(Math.min(...ys)))
  const upTo = 10 ** Math.ceil(Math.log10(Math.max(...ys) * 1.001))
  const scale = (value: number, from: number, to: number): number =>
    (Math.log10(value) - Math.log10(from)) / (Math.log10(to) - Math.log10(from))
  const px = (value: number): number => LEFT + scale(value, acrossFrom, acrossTo) * (WIDTH - LEFT - RIGHT)
  const py = (value: number): number => HEIGHT - BOTTOM - scale(value, upFrom, upTo) * (HEIGHT - TOP - BOTTOM)

  const parts: string[] = []
  for (const tick of ticks(upFrom, upTo)) {
    parts.push(
      `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at(py(tick))}" y2="${at(py(tick))}"/>`,
      `<text x="${LEFT - 8}" y="${at(py(tick) + 4)}" text-anchor="end">${tick}</text>`,
    )
  }
  for (const tick of ticks(acrossFrom, acrossTo)) {
    parts.push(
      `<line class="grid" x1="${at(px(tick))}" x2="${at(px(tick))}" y1="${TOP}" y2="${HEIGHT - BOTTOM}"/>`,
      `<text x="${at(px(tick))}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${tick}</text>`,
    )
  }
  if (limit !== undefined) {
    parts.push(
      `<line class="limit" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at(py(limit.at))}" y2="${at(py(limit.at))}"/>`,
      `<text x="${LEFT + 6}" y="${at(py(limit.at) - 5)}">${limit.name}</text>`,
    )
  }
  for (const [i, line] of series.entries()) {
    const color = COLORS[i % COLORS.length]!
    const shown = line.points.filter(([vx, vy]) => vx > 0 && vy > 0)
    const path = shown.map(([vx, vy], n) => `${n === 0 ? 'M' : 'L'}${at(px(vx))} ${at(py(vy))}`).join('')
    parts.push(`<path d="${path}" fill="none" stroke="${color}" stroke-width="2"/>`)
    for (const [vx, vy] of shown) parts.push(`<circle cx="${at(px(vx))}" cy="${at(py(vy))}" r="3" fill="${color}"/>`)
    const legend = TOP + 12 + i * 20
    parts.push(
      `<rect x="${WIDTH - RIGHT + 12}" y="${legend - 9}" width="12" height="12" fill="${color}"/>`,
      `<text x="${WIDTH - RIGHT + 30}" y="${legend + 2}">${line.name}</text>`,
    )
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">
<style>
svg { background: #fff; font: 12px system-ui, sans-serif }
text { fill: #222 }
.grid { stroke: #ddd }
.limit { stroke: #888; stroke-dasharray: 5 4 }
</style>
<text x="${LEFT}" y="24" font-size="15">${title}</text>
${parts.join('\n')}
<text x="${LEFT + (WIDTH - LEFT - RIGHT) / 2}" y="${HEIGHT - 14}" text-anchor="middle">${x}</text>
<text transform="translate(18 ${TOP + (HEIGHT - TOP - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">${y}</text>
</svg>
`
}

const at = (value: number): string => value.toFixed(1)

/** 1, 2 and 5 of every power of ten in the range. */
function ticks(from: number, to: number): number[] {
  const found: number[] = []
  for (let exponent = Math.floor(Math.log10(from)); exponent <= Math.ceil(Math.log10(to)); exponent++) {
    for (const digit of [1, 2, 5]) {
      const tick = Number((digit * 10 ** exponent).toPrecision(3))
      if (tick >= from * 0.999 && tick <= to * 1.001) found.push(tick)
    }
  }
  return found
}
