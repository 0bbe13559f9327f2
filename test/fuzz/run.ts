/**
 * `npm run fuzz -- --seed N --count M`: any number of seeded lives of a room (`--steps S` each), one seed after the other; with
 * `--faults` calls into Yjs throw in them now and then. `--what structures`: worlds of updates made struct by struct.
 */
import { parseArgs } from 'node:util'
import { YjsFaults } from '../support/yjs-faults.ts'
import { runScenario } from './scenario.ts'
import { runStructures } from './structures.ts'

const { values } = parseArgs({
  options: {
    what: { type: 'string', default: 'lives' },
    seed: { type: 'string' },
    count: { type: 'string', default: '1000' },
    faults: { type: 'boolean', default: false },
    steps: { type: 'string', default: '240' },
  },
})
const first = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed)
const count = values.seed === undefined || values.count !== '1000' ? Number(values.count) : 1
const faults = values.faults ? new YjsFaults() : undefined
const run =
  values.what === 'structures'
    ? (seed: number) => runStructures(seed, { contradictions: seed % 4 === 0 })
    : (seed: number) => runScenario(seed, Number(values.steps), faults)
console.log(`seeds ${first} to ${first + count - 1}`)
for (let seed = first; seed < first + count; seed++) {
  const result = await run(seed)
  if (count === 1 || (seed - first) % 100 === 99) console.log(seed, JSON.stringify(result))
}
