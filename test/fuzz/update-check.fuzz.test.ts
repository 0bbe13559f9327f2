import { mutatedUpdates } from './mutations.ts'

mutatedUpdates(30_000)
