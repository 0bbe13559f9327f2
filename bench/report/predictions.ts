/** What follows from the measurements by arithmetic, and was not measured. */
import { find, type Line } from './summary.ts'

/** Share of a core up to which delays stay what they are. */
const USABLE = 0.7

export function predictions(lines: readonly Line[]): string[] {
  const found: string[] = []
  const say = (scenario: string, unit: string, perRun: number): void => {
    for (const server of ['y-weir', 'y-websocket', 'hocuspocus'] as const) {
      const line = find(lines, scenario, server)
      const share = line?.mean.cpuShare
      if (line === undefined || share === undefined || line.verdict !== 'ok' || share <= 0) continue
      const count = Math.floor((USABLE / share) * perRun)
      found.push(
        `${line.label}: about ${count} ${unit} on ${USABLE * 100} % of a core (${perRun} took ${(share * 100).toFixed(0)} %)`,
      )
    }
  }
  say('studio', 'rooms of 4 as in studio', 50)
  say('class', 'rooms as in class', 1)
  say('hall', 'rooms as in hall', 1)
  return found
}
