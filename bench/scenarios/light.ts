/** Two people, nothing else going on: what the server adds to the delay of one edit. The raw relay is the comparison. */
import type { Scenario } from './scenario.ts'
import { steadyAlone } from './steady.ts'

export const light: Scenario = {
  name: 'light',
  about: 'one room of 2; 10 edits a second each',
  deadlineMs: 60_000,
  run: async (context) => [
    await steadyAlone(context, {
      rooms: 1,
      members: 2,
      editsPerSecond: 10,
      presencePerSecond: 0,
      echoes: false,
    }),
  ],
}
