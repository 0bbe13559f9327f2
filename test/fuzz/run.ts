/**
 * `npm run fuzz -- --seed N --count M --steps S`: any number of lives of a room, one seed after the other. With `--faults` calls
 * into Yjs throw in them now and then.
 */
import { parseArgs } from 'node:util'
import { YjsFaults } from '../support/yjs-faults.ts'
import { runScenario } from './scenario.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    count: { type: 'string', default: '1000' },
    faults: { type: 'boolean', default: false },
    steps: { type: 'string', default: '240' },
  },
})
const first = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed)
const count = values.seed === undefined || values.count !== '1000' ? Number(values.count) : 1
console.log(`seeds ${first} to ${first + count - 1}`)
const faults = values.faults ? new YjsFaults() : undefined
for (let seed = first; seed < first + count; seed++) {
  const result = await runScenario(seed, Number(values.steps), faults)
  if (count === 1 || (seed - first) % 100 === 99) console.log(seed, JSON.stringify(result))
}
