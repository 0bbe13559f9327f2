/** What writing everything to disk costs: studio on memory and on LMDB, in the same run. */
import { STUDIO } from './drawing.ts'
import type { Measurement, Scenario } from './scenario.ts'
import { steadyAlone } from './steady.ts'

export const storage: Scenario = {
  name: 'storage',
  about: 'studio with STORAGE=memory and with STORAGE=lmdb',
  deadlineMs: 120_000,
  leaveOut: {
    'y-websocket': 'storage looks at y-weir alone',
    hocuspocus: 'storage looks at y-weir alone',
    relay: 'storage looks at y-weir alone',
  },
  run: async (context) => {
    const rows: Measurement[] = []
    for (const kind of ['memory', 'lmdb']) {
      const server = { ...context.kind, env: { ...context.kind.env, STORAGE: kind } }
      rows.push(await steadyAlone(context, { ...STUDIO, variant: kind }, server))
    }
    return rows
  },
}
