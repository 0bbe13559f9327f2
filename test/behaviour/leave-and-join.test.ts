import { leaveAndJoin } from '../support/leave-and-join-rounds.ts'

leaveAndJoin(20)
