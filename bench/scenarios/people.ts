/** One room that grows, at hall's rates, until what anybody does takes longer than 60 ms to be seen. */
import { HALL } from './drawing.ts'
import { ladder } from './ladder.ts'
import type { Scenario } from './scenario.ts'

const SIZES = [2, 5, 10, 20, 30, 40, 50, 60, 75, 100, 150, 200, 300, 400, 500, 600, 800, 1000]
const QUICK_SIZES = [2, 10, 50, 100, 200, 400]

const peopleOf = (members: number): string => `${members} people`

export const people: Scenario = {
  name: 'people',
  about:
    'one room of 2 to 1 000 people, 5 edits and 10 cursor moves a second each, until the p99 of edits passes 60 ms',
  deadlineMs: 500_000,
  run: (context) =>
    ladder(
      context,
      (context.timing.quick ? QUICK_SIZES : SIZES).map((members) => ({ ...HALL, members, variant: peopleOf(members) })),
    ),
}
