import { mutatedUpdates } from './mutations.ts'

mutatedUpdates(300_000)
