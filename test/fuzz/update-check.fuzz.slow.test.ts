import { mutatedUpdates } from './mutations.ts'

mutatedUpdates(100_000)
